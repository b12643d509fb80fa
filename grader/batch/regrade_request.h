#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rooflab {

enum class RequestState : std::uint8_t { open, granted, declined };

constexpr const char* name_of(RequestState state) {
  switch (state) {
    case RequestState::open:
      return "open";
    case RequestState::granted:
      return "granted";
    case RequestState::declined:
      return "declined";
  }
  return "";
}

/// What a student, or an assistant for one, asks to be looked at again, and what became of it.
/// Times are in seconds since 1970.
struct RegradeRequest {
  std::int64_t id = 0;
  std::string student = {};  ///< key
  int part = 0;
  std::string task = {};  ///< empty: the part as a whole
  std::string why = {};   ///< untrusted
  std::string asked_by = {};
  std::int64_t asked_at = 0;
  std::optional<double> old_score = {};  ///< by the grader with bonus, when it was asked
  RequestState state = RequestState::open;
  std::string reason = {};  ///< of the decision, which the student reads
  std::string decided_by = {};
  std::optional<std::int64_t> decided_at = {};
  bool regrade = false;      ///< the next batch grades the submission again
  std::string grading = {};  ///< that was made for it; empty for none yet
  std::int64_t version = 0;
};

}  // namespace rooflab
