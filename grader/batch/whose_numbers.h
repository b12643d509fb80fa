#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/batch/store/store.h"

namespace rooflab {

/// By which names the questions of a student may have been asked, the roster's key first:
/// docs/design/questions.md.
std::vector<std::string> ids_of(const Student& student);

/// By which names those of a submission may have been, as GradeRequest::students has them.
class WhoseNumbers {
 public:
  explicit WhoseNumbers(Store& store);

  /// The names of all who handed it in together, in the platform's order; before them nobody's, "",
  /// where none of them is on the roster.
  std::vector<std::string> of(const SubmissionRow& submission) const;

 private:
  std::map<std::string, Student> students_;
  std::map<std::string, std::vector<std::string>> groups_;  ///< students of an entry, by its id
};

}  // namespace rooflab
