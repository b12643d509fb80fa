#pragma once

// What kernels of several files need. The file is yours: whatever you put here, every file of this
// part may include.

// BEGIN SOLUTION
#include <cuda_runtime.h>

#include "attention_shape.h"

// All threads of a block of 32 x kRows copy the first kRows rows of a matrix that is kColumns wide
// to shared memory, a warp to each row. If there are only `row_count` rows, the others become zero.
template <int kColumns, int kRows, int kStride>
__device__ void load_tile(const float* rows, int row_count, float (&tile)[kRows][kStride]) {
  const int row = threadIdx.y;
  for (int column = threadIdx.x; column < kColumns; column += 32) {
    tile[row][column] = row < row_count ? rows[row * kColumns + column] : 0.0f;
  }
}

// The dot product of two rows.
template <int kColumns>
__device__ float dot(const float* a, const float* b) {
  float sum = 0.0f;
  for (int d = 0; d < kColumns; ++d) sum += a[d] * b[d];
  return sum;
}

// The first and the last key that a query sees. There are none if the last comes before the first.
__device__ inline int last_visible(int query, const AttentionShape& shape) {
  return shape.causal ? query + shape.key_length - shape.query_length : shape.key_length - 1;
}
__device__ inline int first_visible(int query, const AttentionShape& shape) {
  return shape.window > 0 ? max(0, last_visible(query, shape) - shape.window + 1) : 0;
}

// A row that has seen no key yet has the maximum -inf, and -inf - -inf is not a number: what to
// subtract from its scores.
__device__ inline float finite_or_zero(float maximum) {
  return maximum == -INFINITY ? 0.0f : maximum;
}

// END SOLUTION
