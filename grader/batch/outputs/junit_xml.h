#pragma once

#include <string>

#include "grader/batch/outputs/class_results.h"
#include "grader/batch/outputs/part_view.h"

namespace rooflab {

/// The class as a JUnit report, which CI systems show: a suite for each student, a case for each
/// task. What the student got wrong is a failure, what kept the grader from judging an error.
class JunitXml {
 public:
  JunitXml(const ClassResults& results, std::string assignment);
  void begin(const StudentOutcome& student);
  void add(const PartView& part);
  void end();
  std::string finish() &&;

 private:
  struct Counts {
    int tests = 0, failures = 0, errors = 0, skipped = 0;
    std::string attributes() const;
  };
  void add_case(const std::string& suite, const std::string& name, const std::string& child);

  std::string assignment_;
  std::string suites_, cases_, student_, properties_;
  Counts all_, counts_;
};

}  // namespace rooflab
