#pragma once

#include <cstdint>

namespace rooflab {

/// What an operation needs of any GPU, however it is written.
struct Cost {
  std::int64_t macs = 0;   ///< multiply-accumulate steps, a * b + c
  std::int64_t flops = 0;  ///< floating-point operations
  std::int64_t bytes = 0;  ///< moved between DRAM and chip when every value crosses just once
};

/// What two kernels need one after the other.
inline Cost operator+(const Cost& a, const Cost& b) {
  return {.macs = a.macs + b.macs, .flops = a.flops + b.flops, .bytes = a.bytes + b.bytes};
}

/// The two numbers of a GPU that a roofline needs.
struct Gpu {
  double flops_per_second = 0;  ///< peak arithmetic rate for the type in use
  double bytes_per_second = 0;  ///< DRAM bandwidth
};

/// The roof that an operation meets first.
enum class Bound { memory, compute };

}  // namespace rooflab
