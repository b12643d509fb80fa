#pragma once

#include <string>
#include <vector>

#include "grader/spec/result.h"

namespace rooflab {

/// A hidden case that failed, with all that students are not told of it. For instructors alone: it
/// is no part of a GradeResult, so nothing that is made from one can hold it.
struct RevealedCase {
  std::string task;
  std::string name;
  std::string parameters;  ///< "m = 127, n = 33"
  Verdict verdict = Verdict::pass;
  std::vector<Diagnostic> diagnostics;  ///< as they would be for a public case
  std::string printed;                  ///< by the student's code, capped; untrusted
};

}  // namespace rooflab
