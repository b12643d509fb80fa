#include "grader/batch/outputs/class_results.h"

namespace rooflab {

const char* name_of(PartState state) {
  switch (state) {
    case PartState::graded:
      return "graded";
    case PartState::not_submitted:
      return "not-submitted";
    case PartState::unreadable:
      return "unreadable";
    case PartState::ungraded:
      return "not-graded-yet";
    case PartState::fault:
      return "fault";
  }
  return "fault";
}

}  // namespace rooflab
