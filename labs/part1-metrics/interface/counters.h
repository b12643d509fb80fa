#pragma once

#include <cstdint>

#include "toolkit/cost.h"

// How much work does an operation need? Every count is exact and fits into 64 bits.
//
// Conventions, the same for every function here:
//   - Arrays are dense. Inputs, weights and outputs all have `bytes_per_element` bytes per element:
//     4 in fp32, 2 in bf16, 1 in int8.
//   - `bytes` is the least traffic with DRAM: each input read once, each output written once.
//   - Multiplications with padding zeros count like all others.

/// C = A B with A (m, k), B (k, n), C (m, n).
rooflab::Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k,
                        std::int64_t bytes_per_element);

/// y = A x with A (m, k), x (k), y (m).
rooflab::Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element);

/// A linear layer on `tokens` rows of `in_features`, giving `out_features` each. Its weight is
/// (out_features, in_features). With `bias`, one value per output feature is added to every row:
/// one FLOP for each output value, but no multiply-accumulate.
rooflab::Cost linear_cost(std::int64_t tokens, std::int64_t in_features, std::int64_t out_features,
                          bool bias, std::int64_t bytes_per_element);

/// A two-dimensional convolution without bias. Stride, padding and dilation are the same for height
/// and width; padding is added on both sides. With g groups, an output channel sees only the input
/// channels of its own group; g divides both channel counts.
struct Conv2d {
  std::int64_t batch = 1;
  std::int64_t in_channels = 1, out_channels = 1;
  std::int64_t height = 1, width = 1;  ///< of the input
  std::int64_t kernel_height = 1, kernel_width = 1;
  std::int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
  std::int64_t bytes_per_element = 4;
};
rooflab::Cost conv2d_cost(const Conv2d& conv);

/// out[i] = f(in_1[i], …, in_inputs[i]) for `elements` elements, where one f takes
/// `flops_per_element` floating-point operations. None of them counts as a multiply-accumulate.
rooflab::Cost pointwise_cost(std::int64_t elements, std::int64_t inputs,
                             std::int64_t flops_per_element, std::int64_t bytes_per_element);

/// Floating-point operations for each byte that crosses DRAM, in FLOP/B.
double arithmetic_intensity(const rooflab::Cost& cost);

/// The roof that limits an operation of this cost on this GPU. An operation exactly at the ridge
/// point is compute-bound.
rooflab::Bound bound_on(const rooflab::Cost& cost, const rooflab::Gpu& gpu);
