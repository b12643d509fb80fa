#pragma once

#include <cstdint>

// Two kernels that reach one roof each.
//
// All pointers are device pointers as cudaMalloc returns them, aligned to 256 bytes. Outputs hold
// garbage before the call: write every element, read none. Inputs must stay as they are. Each
// function launches its kernel on the default stream and need not wait for it.

/// Arithmetic at the fp32 peak: n chains of multiply-adds. Chain i starts at x = in[i], replaces x
/// with a * x + b `steps` times, each time by one fused multiply-add in fp32 (one rounding: fmaf,
/// or the expression as nvcc compiles it), and ends as out[i] = x.
///
/// in and out have n elements; 1 <= n <= 2^26, 0 <= steps <= 2^20.
void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b);

/// Elements of one chunk of sum_chunks.
inline constexpr std::int64_t kChunk = 4096;

/// Reading at the DRAM peak: the sum of each chunk of kChunk elements, in fp32 and in any order.
/// The last chunk may be shorter.
///
///     sums[j] = in[j * kChunk] + … + in[min(n, (j + 1) * kChunk) - 1]
///
/// in has n elements, 1 <= n <= 2^31; sums has one element for each chunk, a full or partial one.
void sum_chunks(const float* in, float* sums, std::int64_t n);
