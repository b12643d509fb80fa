#pragma once

#include <cmath>
#include <sstream>
#include <string>
#include <variant>

#include "grader/contract/oracle.h"

/// Judging what a call returned.
namespace rooflab {

/// The named result, or `fallback` where the guest sent none or another type.
template <typename T>
T result(const CallEvidence& evidence, const std::string& name, T fallback) {
  const auto found = evidence.results.find(name);
  if (found == evidence.results.end()) return fallback;
  const T* value = std::get_if<T>(&found->second);
  return value == nullptr ? fallback : *value;
}

/// The floats that kernels loaded from global memory, as the device counted them.
inline double floats_loaded(const CallEvidence& evidence) {
  double bytes = 0;
  for (const simgpu::KernelRecord& kernel : evidence.activity.kernels) {
    bytes += static_cast<double>(kernel.counters.global_load_bytes);
  }
  return bytes / sizeof(float);
}

/// True when `got` is a number within `relative` of `expected`.
inline bool is_close(double got, double expected, double relative) {
  return std::abs(got - expected) <= relative * std::abs(expected);
}

/// All parts in a row, numbers with up to five digits.
template <typename... Parts>
std::string message(const Parts&... parts) {
  constexpr int kDigits = 5;
  std::ostringstream out;
  out.precision(kDigits);
  (out << ... << parts);
  return out.str();
}

}  // namespace rooflab
