#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"
#include "grader/spec/part.h"

namespace rooflab {

/// A case of a student's tests: a call, and what its outputs have to hold.
struct StudentCase {
  std::string name;  ///< untrusted
  Values chosen;     ///< parameters that the case gives
  Problem problem;
  std::vector<Expected> expected;  ///< of the outputs that the case looks at
};

/// Cases that cannot be run.
class UnusableCases : public std::runtime_error {
 public:
  UnusableCases(const std::string& what, std::string remedy)
      : std::runtime_error(what), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

/// Reads the cases that a guest has named (labs/guest_support/student_cases.h), and holds them
/// against what the task allows: the guest may say anything. Inputs of other types than float32 are
/// the oracle's own.
/// @throws UnusableCases for the first that cannot be run
std::vector<StudentCase> read_student_cases(const Values& results, const TaskSpec& task,
                                            const Oracle& oracle);

}  // namespace rooflab
