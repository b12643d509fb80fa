#pragma once

#include <cuda_runtime.h>

#include "attention_shape.h"

/// Step 6 of flash attention: flash_grouped for all types and head sizes, on a stream, and fast.
///
/// Attention in one kernel, whose scores never leave the chip. A block takes a tile of queries and
/// walks over tiles of keys and values in shared memory. For each query it keeps the largest score
/// so far, the sum of exp(score - largest) and the sum of these weights times the values. When a
/// tile brings a larger score, both sums shrink by exp(old - new).
///
/// head_dim is 64, 128 or 256; lengths are any. The call takes no device memory of its own; the
/// grader measures that. A GPU of compute capability 7.5 has 64 KiB of shared memory for a block.
/// More than 48 KiB must be dynamic, and you ask for them with cudaFuncSetAttribute.
///
/// T is float, __half or __nv_bfloat16. Launches on `stream` and need not wait.
template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream);
