#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "mlp_shape.h"

// Steps 1 to 4 of the ladder that leads to mlp.h. Each is a task and a file of its own, and
// computes the first three lines of a gated MLP in one kernel:
//
//   gate    = x gate_proj^T           (tokens, intermediate)
//   up      = x up_proj^T             (tokens, intermediate)
//   product = gelu(gate) * up         (tokens, intermediate)
//
//   x:                  (tokens, hidden)          dense, row-major; no two arrays overlap
//   gate_proj, up_proj: (intermediate, hidden)    row j holds the weights of feature j
//
// gate and up stay in registers: only their product reaches memory. Sums are fp32 whatever the
// arrays are, and gelu (of common.cuh) takes them before anything is rounded. Pointers are aligned
// to 256 bytes, sizes are at least 1, and no array has 2^31 elements or more. product holds garbage
// before the call. Everything runs on `stream`, and nobody waits for it.

/// Step 1, in fp32: tiles in shared memory, as in Part 1's gemm_tiled. tokens, hidden and
/// intermediate are multiples of 32.
void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream);

/// Step 2, in half precision on tensor cores. tokens, hidden and intermediate are multiples of 16.
/// gate may be larger than the largest half, 65,504; product is at most 30,000, here and below.
void gated_wmma(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                const MlpShape& shape, cudaStream_t stream);

/// Step 3, in half precision on tensor cores: sizes need not be multiples of anything, so that a
/// row need not begin where a vector or a fragment may. Here, too, the grader counts what tensor
/// cores multiply.
void gated_ragged(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                  const MlpShape& shape, cudaStream_t stream);

/// Step 4, for the one token of a decode step, or a few: a matrix-vector product that reads every
/// weight once. T is float or __half, and sizes are as in step 3. It may be slow for many tokens,
/// and must be right.
template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream);
