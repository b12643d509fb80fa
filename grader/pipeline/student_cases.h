#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"
#include "grader/spec/part.h"

namespace rooflab {

/// A case of a student's tests: a call, and what its outputs have to hold.
struct StudentCase {
  std::string name;  ///< the student's: of printable ASCII
  Values chosen;     ///< parameters that the case gives
  Problem problem;
  std::vector<Expected> expected;  ///< of the outputs that the case looks at
};

/// A case for which no elements are left: it is not run, and the others are.
struct LeftOutCase {
  std::string name;
  std::int64_t elements = 0;  ///< of its arrays
  std::int64_t left = 0;      ///< that the cases before it leave of TestedSpec::most_elements
};

struct ReadCases {
  std::vector<StudentCase> cases;
  std::vector<LeftOutCase> left_out;
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
/// the oracle's own. A name has 1 to 60 characters of printable ASCII, and no spaces but single
/// ones between words: names that look alike are the same.
/// @throws UnusableCases for the first that cannot be run
ReadCases read_student_cases(const Values& results, const TaskSpec& task, const Oracle& oracle);

}  // namespace rooflab
