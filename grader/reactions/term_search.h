#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "simgpu/codes/code.h"

namespace rooflab {

using simgpu::Code;

/// One call: what it was given, what it returned and what it should have returned.
struct TermSample {
  Values parameters;
  Values got;       ///< untrusted: only finite numbers count
  Values expected;  ///< of the oracle
  /// Drawn by another seed than those that laws are found from: a law has to hold there, too.
  bool proves = false;
};

/// The oracle's results of given parameters; nothing where it has none.
using RightResults = std::function<std::optional<Values>(const Values&)>;

/// How wrong results come of the right ones, in all samples.
struct Law {
  Code code;
  /// "the term 2 * m * n is missing from flops: at m = 3, n = 5 it is 30 too small"
  std::string message;
  std::string advice;
};

/// The simplest law that holds in every sample; nothing where none is known. The numbers that it
/// names are those of the first sample.
/// @param samples the case itself first; all of one kind, with the same names of parameters
std::optional<Law> find_law(const std::vector<TermSample>& samples, const RightResults& right);

}  // namespace rooflab
