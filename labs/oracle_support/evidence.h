#pragma once

#include <cmath>
#include <optional>
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

/// The peak rates that an adapter was told (guest_support/gpu_at_hand.h) and returned under these
/// names. A student's code runs before they are returned: where the device's are known, and these
/// are others, those count. Names and properties of a GPU give its rates in few digits.
inline PeakRates told_peaks(const CallEvidence& evidence) {
  constexpr double kFewDigits = 0.05;
  const auto rate = [&](const char* name, double known) {
    const double told = result(evidence, name, 0.0);
    return known > 0 && !(std::abs(told - known) <= kFewDigits * known) ? known : told;
  };
  return {.flops_per_second = rate("flops_per_second", evidence.peaks.flops_per_second),
          .bytes_per_second = rate("bytes_per_second", evidence.peaks.bytes_per_second)};
}

/// The floats that kernels read of global memory, as the device counted them: by loads, by atomics,
/// which return what was there, and through the constant cache, a float for each of its words.
inline double floats_loaded(const CallEvidence& evidence) {
  double floats = 0;
  for (const simgpu::KernelRecord& kernel : evidence.activity.kernels) {
    const simgpu::KernelCounters& counters = kernel.counters;
    floats += static_cast<double>(counters.global_load_bytes + counters.global_atomic_bytes) /
              sizeof(float);
    floats += static_cast<double>(counters.constant_load_wavefronts);
  }
  return floats;
}

/// Floating-point operations that kernels did on tensor cores of the type `peak` ("fp16_tensor"),
/// and on CUDA cores, of all types.
struct FlopsDone {
  double on_tensor_cores = 0, on_cuda_cores = 0;
};
inline FlopsDone flops_done(const CallEvidence& evidence, const std::string& peak) {
  FlopsDone done;
  for (const simgpu::KernelRecord& kernel : evidence.activity.kernels) {
    for (const auto& [type, flops] : kernel.counters.flops) {
      if (type == peak) done.on_tensor_cores += static_cast<double>(flops);
      if (!type.ends_with("_tensor")) done.on_cuda_cores += static_cast<double>(flops);
    }
  }
  return done;
}

/// Whether products of so many FLOPs were computed on tensor cores, and not on CUDA cores beside
/// tensor cores that multiply something else: what else there is to do takes far fewer.
inline bool multiplies_on(const FlopsDone& done, double flops) {
  return done.on_tensor_cores >= flops && done.on_cuda_cores < flops / 2;
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

/// A complaint of a right call of which tensor cores did less than the work of its case says
/// (Work::flops of types such as "bf16_tensor"), for tasks that are about them.
/// @param advice how the task's page has them multiply
inline std::optional<Complaint> without_tensor_cores(const Work& work, const CallEvidence& evidence,
                                                     const char* advice) {
  if (!evidence.keeps_records) return std::nullopt;
  for (const auto& [peak, flops] : work.flops) {
    if (!peak.ends_with("_tensor")) continue;
    const FlopsDone done = flops_done(evidence, peak);
    if (multiplies_on(done, flops)) continue;
    return Complaint{
        "RL0431",
        "not all products are computed on tensor cores" +
            Evidence{message(": they did ", done.on_tensor_cores, " FLOPs of at least ", flops,
                             ", and CUDA cores ", done.on_cuda_cores)},
        advice};
  }
  return std::nullopt;
}

/// True when `got` is a number within `relative` of `expected`.
inline bool is_close(double got, double expected, double relative) {
  return std::abs(got - expected) <= relative * std::abs(expected);
}

}  // namespace rooflab
