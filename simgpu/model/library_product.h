#pragma once

#include <cstdint>
#include <string>

#include "simgpu/dim3.h"
#include "specs/gpu_spec.h"

namespace simgpu::model {

/// C (m, n) = A (m, k) B (k, n), so many times, as a library computes it.
struct LibraryProduct {
  std::uint64_t m = 0, n = 0, k = 0, batch = 1;
  std::string flop_type = "fp32";  ///< key of GpuSpec::peak_flops, falls back to "fp32"
};

/// How a library splits a product into blocks: each computes a tile of C, or of several parts of
/// the sum over k one.
struct ProductSplit {
  std::uint32_t tile_rows = 0, tile_columns = 0;
  std::uint32_t parts_of_k = 1;
  Dim3 grid;              ///< blocks: tiles down and across, parts times products
  double compute_us = 0;  ///< of the busiest SM, and to add up the parts
};

/// The split that takes the least time, of those that a library has kernels for. Without a peak of
/// the GPU, or with nothing to do, its time is 0.
ProductSplit fastest_split(const LibraryProduct& product, const gpu_spec::GpuSpec& gpu);

/// Operations in a second that all SMs together do of such a type, at the clock under load.
double arithmetic_rate(const std::string& flop_type, const gpu_spec::GpuSpec& gpu);

/// Share of the arithmetic peak that a library's inner loop reaches. Beside its multiplications it
/// loads from shared memory. Where fp32 lanes take an instruction in every cycle of a scheduler,
/// these loads take issue slots from them: an H200 reaches 51.3 of 67 TFLOP/s in products of 4096
/// and 8192. Otherwise the loads fit in between: 890 of 989 TFLOP/s in bf16 on tensor cores.
double library_efficiency(const std::string& flop_type, const gpu_spec::GpuSpec& gpu);

}  // namespace simgpu::model
