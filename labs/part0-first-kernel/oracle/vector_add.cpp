#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/refusal.h"
#include "labs/part0-first-kernel/oracle/eighths.h"

namespace rooflab {
namespace {

/// c = a + b of host arrays that the adapter draws from the parameter `seed`; c comes back as text.
class VectorAddOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    Random random(seed);
    constexpr std::uint64_t kSeeds = std::minstd_rand::modulus - 1;
    problem.parameters["seed"] = static_cast<std::int64_t>(1 + random() % kSeeds);
    return problem;
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    return refusals_of([&] {
      const std::int64_t n = integer(problem.parameters, "n");
      refuse_changed_inputs(evidence);
      refuse_wrong_sums(sums(n, integer(problem.parameters, "seed")),
                        floats_in(result<std::string>(evidence, "c", "")));
      if (evidence.keeps_records) refuse_other_work(n, evidence);
    });
  }

  Work work(const Values& parameters) const override {
    const auto n = static_cast<double>(integer(parameters, "n"));
    return {{{"fp32", n}}, 3 * sizeof(float) * n};
  }

 private:
  /// As guest/vector_add.cpp draws a and b.
  static std::vector<double> sums(std::int64_t n, std::int64_t seed) {
    std::minstd_rand random(static_cast<std::uint32_t>(seed));
    const auto draw = [&] { return (static_cast<double>(random() % 2001) - 1000) / 8; };
    std::vector<double> sums(static_cast<std::size_t>(n));
    for (double& sum : sums) sum = draw();
    for (double& sum : sums) sum += draw();
    return sums;
  }

  /// Eight hexadecimal digits for each float; what is none is a NaN, as everything that is missing.
  static std::vector<float> floats_in(const std::string& text) {
    constexpr std::size_t kDigits = 8;
    constexpr int kBase = 16;
    std::vector<float> values(text.size() / kDigits);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const char* const first = text.data() + i * kDigits;
      std::uint32_t bits = ~std::uint32_t{0};
      const auto read = std::from_chars(first, first + kDigits, bits, kBase);
      if (read.ptr != first + kDigits) bits = ~std::uint32_t{0};
      values[i] = std::bit_cast<float>(bits);
    }
    return values;
  }

  static void refuse_changed_inputs(const CallEvidence& evidence) {
    if (result<std::int64_t>(evidence, "inputs changed", 0) == 0) return;
    throw Refusal({"RL0405", "a or b is no longer what it was before the call",
                   "copy from a and b to the device, and from the device to c"});
  }

  static void refuse_wrong_sums(const std::vector<double>& right, const std::vector<float>& got) {
    std::size_t wrong = 0, unwritten = 0, first = right.size();
    for (std::size_t i = 0; i < right.size(); ++i) {
      const bool is_right = i < got.size() && static_cast<double>(got[i]) == right[i];
      if (is_right) continue;
      first = std::min(first, i);
      ++wrong;
      unwritten += i >= got.size() || std::isnan(got[i]) ? 1 : 0;
    }
    if (wrong == 0) return;
    const Evidence figures{
        message("; ", wrong, " of ", right.size(), " elements of c are wrong, c[", first, "] is ",
                first < got.size() ? got[first] : NAN, " instead of ", right[first])};
    if (unwritten == right.size()) {
      throw Refusal({"RL0403",
                     "no sum has reached c: c holds what it held before the call" + figures,
                     "copy the result back: cudaMemcpy(c, device_c, bytes, "
                     "cudaMemcpyDeviceToHost), with bytes = n * sizeof(float)"});
    }
    const bool is_prefix = wrong == right.size() - first && first > 0;
    if (is_prefix && unwritten == wrong && first == right.size() / sizeof(float)) {
      throw Refusal(
          {"RL0403",
           "the first n / 4 elements of c are there, which are n bytes, and no others" + figures,
           "cudaMemcpy counts bytes: the size of each copy is n * sizeof(float)"});
    }
    constexpr std::size_t kWarp = 32;
    if (is_prefix && first % kWarp == 0) {
      throw Refusal({"RL0436",
                     "c is right up to a whole number of warps, and wrong after it" + figures,
                     "where n is no multiple of the block, one more block has to be launched: "
                     "(n + threads - 1) / threads. Copies take bytes, n * sizeof(float)"});
    }
    throw Refusal({"RL0401", "c is not a + b" + figures,
                   "element i is added by thread blockIdx.x * blockDim.x + threadIdx.x"});
  }

  /// The sums are right; kernels must have made and stored them, of numbers that came to the
  /// device, and they must have gone back. All of it is counted by the device.
  static void refuse_other_work(std::int64_t n, const CallEvidence& evidence) {
    const simgpu::Activity& activity = evidence.activity;
    double additions = 0, stored = 0;
    for (const simgpu::KernelRecord& kernel : activity.kernels) {
      stored += static_cast<double>(kernel.counters.global_store_bytes) / sizeof(float);
      for (const auto& [type, flops] : kernel.counters.flops) {
        additions += static_cast<double>(flops);
      }
    }
    if (std::min(additions, stored) >= static_cast<double>(n)) {
      return refuse_other_numbers(static_cast<double>(n), evidence);
    }
    throw Refusal({"RL0506",
                   "the sums are right, and no kernel has added them" +
                       Evidence{message("; kernels did ", additions, " of ", n,
                                        " additions, and stored ", stored, " numbers")},
                   "add in a kernel, a __global__ function, and launch it"});
  }

  /// Kernels read what they add, and no copies are needed of memory that both sides reach.
  static void refuse_other_numbers(double n, const CallEvidence& evidence) {
    constexpr std::array<const char*, 4> kShared{"cudaMallocManaged", "cudaHostAlloc",
                                                 "cudaMallocHost", "cudaHostRegister"};
    double to_device = 0, to_host = 0;
    for (const simgpu::MemoryRecord& record : evidence.activity.memory) {
      const double numbers = static_cast<double>(record.bytes) / sizeof(float);
      if (record.operation == simgpu::MemoryOperation::copy_to_device) to_device += numbers;
      if (record.operation == simgpu::MemoryOperation::copy_to_host) to_host += numbers;
    }
    const bool is_shared = std::ranges::any_of(kShared, [&](const char* function) {
      return evidence.activity.api_calls.contains(function);
    });
    const double loaded = floats_loaded(evidence);
    if (loaded >= 2 * n && (is_shared || (to_device >= 2 * n && to_host >= n))) return;
    throw Refusal({"RL0506",
                   "the sums are right, and they are not those that kernels have made" +
                       Evidence{message("; ", to_device, " numbers were copied to the device, ",
                                        loaded, " were loaded by kernels, and ", to_host,
                                        " copied back, of ", 2 * n, ", ", 2 * n, " and ", n)},
                   "copy a and b to the device, add there, and copy the sums back"});
  }
};

ROOFLAB_ORACLE("vector_add", VectorAddOracle)

}  // namespace
}  // namespace rooflab
