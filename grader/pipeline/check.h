#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/device/device.h"
#include "grader/diagnose/diagnose.h"

namespace rooflab {

/// The outputs that an oracle's word does not match the problem it belongs to: a grader fault.
class OracleFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An input that a call changed.
struct ChangedInput {
  std::string tensor;
  std::uint64_t changed = 0;  ///< elements
  std::uint64_t total = 0;
};

/// Compares every element that is expected of every tensor: right when |got - expected| <=
/// tolerance, which no NaN is. Of a floating-point output of which only some elements are compared,
/// the others must have been written. Returns the tensors that have a wrong element.
/// @param outputs bytes of every tensor of the problem after the call, in order; a tensor that is
///                missing or of another size counts as not written at all
/// @throws OracleFault when the expectation does not fit the problem.
std::vector<TensorCheck> wrong_tensors(const Problem& problem,
                                       const std::vector<Expected>& expected,
                                       const std::vector<std::vector<std::byte>>& outputs);

/// What the values of a call say of which the device ran only a part.
struct SettledCheck {
  std::vector<TensorCheck> wrong;  ///< as wrong_tensors tells it, of the elements that are final
  /// All blocks together write every output, and some of what those that ran wrote was compared: an
  /// answer that is wrong would have shown.
  bool tells = false;
  /// All blocks together write less of an output, as far as those that ran tell: the others do more
  /// than they.
  bool shows_too_little = false;
};
/// @param least_written  the share of each output that all blocks together have to write
SettledCheck check_settled(const Problem& problem, const std::vector<Expected>& expected,
                           const std::vector<std::vector<std::byte>>& outputs,
                           const SettledPart& settled, double least_written);

/// Inputs whose bytes differ from what the call was given.
std::vector<ChangedInput> changed_inputs(const Problem& problem,
                                         const std::vector<std::vector<std::byte>>& outputs);

/// The expected results that are missing or wrong: numbers are right within 1e-9 relative, text
/// when it is equal.
Values wrong_results(const Values& got, Values expected);

}  // namespace rooflab
