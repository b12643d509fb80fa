#pragma once

// What kernels of several files need. The file is yours: whatever you put here, every file of this
// part may include.

// BEGIN SOLUTION
#include <cuda_runtime.h>

#include "attention_shape.h"
#include "warp.h"

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

// What a warp knows of its query after the tiles of keys so far, a step of flash_online in each of
// its functions. A lane has one key of a tile of 32, and two columns of out.
struct WarpRow {
  static constexpr int kColumns = 2;
  float maximum = -INFINITY;
  float sum = 0.0f;
  float acc[kColumns] = {};

  // The weight of this lane's key in the tile. What was summed so far shrinks to the new maximum.
  __device__ float take_softmax(float score) {
    const float new_maximum = fmaxf(maximum, warp_max(score));
    const float base = finite_or_zero(new_maximum);
    const float rescale = expf(maximum - base);
    const float weight = expf(score - base);
    maximum = new_maximum;
    sum = sum * rescale + warp_sum(weight);
    for (float& column : acc) column *= rescale;
    return weight;
  }
  __device__ void add_values(const float (&weights)[32], const float (&values)[32][64]) {
    for (int c = 0; c < kColumns; ++c) {
      for (int j = 0; j < 32; ++j) acc[c] += weights[j] * values[j][threadIdx.x + c * 32];
    }
  }
  __device__ void store(float* out, float* log_sum_exp) const {
    for (int c = 0; c < kColumns; ++c) {
      out[threadIdx.x + c * 32] = sum > 0.0f ? acc[c] / sum : 0.0f;
    }
    if (threadIdx.x == 0) *log_sum_exp = maximum + logf(sum);
  }
};

// END SOLUTION
