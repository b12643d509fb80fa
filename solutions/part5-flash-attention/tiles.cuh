#pragma once

// What the fast kernels share: flash_forward, flash_tensor_cores and flash_decode. The file is
// yours, like common.cuh.

// BEGIN SOLUTION
#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "attention_shape.h"
#include "common.cuh"
#include "fragments.h"
#include "toolkit/vectors.h"

constexpr float kLog2E = 1.4426950408889634f;  // log2(e)

// The block's queries, all of one head, and where that head's rows are.
struct QueryTile {
  int first_query;
  int query_count;       // at most those of a tile
  size_t first_row;      // in q, out and log_sum_exp: that of first_query
  size_t first_key_row;  // in k and v: that of key 0
};

// Blocks start in the order of x. Under a causal mask the last queries see the most keys: those of
// all heads start first, so that in the end short blocks fill the gaps.
inline dim3 grid_of_query_tiles(const AttentionShape& shape, int queries) {
  const int tiles = (shape.query_length + queries - 1) / queries;
  return dim3(tiles * shape.query_heads, shape.batch);
}
__device__ inline QueryTile query_tile_of_block(const AttentionShape& shape, int queries) {
  const int tiles = gridDim.x / shape.query_heads;
  const int first_query = (tiles - 1 - blockIdx.x / shape.query_heads) * queries;
  const int head = blockIdx.x % shape.query_heads;
  const int batch = blockIdx.y;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const size_t query_rows = (static_cast<size_t>(batch) * shape.query_heads + head);
  const size_t key_rows = (static_cast<size_t>(batch) * shape.key_value_heads + key_head);
  return {.first_query = first_query,
          .query_count = min(queries, shape.query_length - first_query),
          .first_row = query_rows * shape.query_length + first_query,
          .first_key_row = key_rows * shape.key_length};
}

// Calls `function` with the head size as a constant, which a kernel can have as a template
// argument.
template <int kHeadDim>
using HeadDim = std::integral_constant<int, kHeadDim>;

template <typename Function>
void with_head_dim(int head_dim, const Function& function) {
  switch (head_dim) {
    case 64:
      return function(HeadDim<64>());
    case 128:
      return function(HeadDim<128>());
    case 256:
      return function(HeadDim<256>());
    default:
      throw std::invalid_argument("head_dim is " + std::to_string(head_dim) +
                                  ", and must be 64, 128 or 256");
  }
}

// Four floats: what one instruction loads from shared memory.
__device__ inline float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ inline float4 operator*(float4 v, float factor) {
  return make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}
__device__ inline void add_product(float4& sum, float factor, float4 v) {
  sum.x += factor * v.x;
  sum.y += factor * v.y;
  sum.z += factor * v.z;
  sum.w += factor * v.w;
}
__device__ inline void add_dot(float& sum, float4 a, float4 b) {
  sum += a.x * b.x;
  sum += a.y * b.y;
  sum += a.z * b.z;
  sum += a.w * b.w;
}
template <typename T>
__device__ void store4(T* to, float4 v) {
  struct alignas(4 * sizeof(T)) Four {
    T x, y, z, w;
  };
  *reinterpret_cast<Four*>(to) = {rooflab::from_float<T>(v.x), rooflab::from_float<T>(v.y),
                                  rooflab::from_float<T>(v.z), rooflab::from_float<T>(v.w)};
}

// The online softmax of a row whose scores arrive tile by tile. They are times log2(e), which makes
// exp2 of them the weights.
struct OnlineSoftmax {
  float maximum = -INFINITY;
  float sum = 0.0f;  // of the weights, as far as this thread has them

  // Takes the largest score of a tile. What was summed so far shrinks by the factor returned.
  __device__ float raise_maximum(float largest) {
    const float before = maximum;
    maximum = fmaxf(maximum, largest);
    const float factor = exp2f(before - finite_or_zero(maximum));
    sum *= factor;
    return factor;
  }
  // The weight of a score of that tile, which joins the sum.
  __device__ float add(float score) {
    const float weight = exp2f(score - finite_or_zero(maximum));
    sum += weight;
    return weight;
  }
};
// The natural logarithm of the sum of exp(score) over a row, whose weights add up to `sum`.
__device__ inline float log_sum_exp_of(float maximum, float sum) {
  return maximum / kLog2E + logf(sum);
}

// The kThreads threads of a block copy the first kColumns columns of a matrix, which is `width`
// wide, to `tile`, times `factor`. If there are only `row_count` rows, the others become zero.
template <int kThreads, int kColumns, typename T, int kRows, int kStride>
__device__ void load_as_float(const T* matrix, int width, int row_count, float factor,
                              float (&tile)[kRows][kStride]) {
  constexpr int kVector = rooflab::kVectorSize<T>;
  constexpr int kVectorsPerRow = kColumns / kVector;
  for (int i = threadIdx.x; i < kRows * kVectorsPerRow; i += kThreads) {
    const int row = i / kVectorsPerRow;
    const int column = i % kVectorsPerRow * kVector;
    float values[kVector] = {};
    if (row < row_count) rooflab::load_vector(matrix + row * width + column, values);
#pragma unroll
    for (int j = 0; j < kVector; j += 4) {
      *reinterpret_cast<float4*>(&tile[row][column + j]) =
          make_float4(values[j], values[j + 1], values[j + 2], values[j + 3]) * factor;
    }
  }
}

// Two Sums side by side have the layout of a FragmentA: the scores of 16 keys become weights of
// type T without leaving their lane.
template <typename T>
__device__ FragmentA<T> to_fragment_a(const Sums& left, const Sums& right) {
  return {pack<T>(left.value[0], left.value[1]), pack<T>(left.value[2], left.value[3]),
          pack<T>(right.value[0], right.value[1]), pack<T>(right.value[2], right.value[3])};
}

// The kThreads threads of a block copy the first kRows rows of a matrix that is kColumns wide to a
// tile in shared memory, 16 bytes at a time. If there are only `row_count` rows, the others become
// zero.
template <int kThreads, int kRows, int kColumns, int kStride, typename T>
__device__ void copy_tile(const T* matrix, int row_count, T (*tile)[kStride]) {
  constexpr int kVector = 16 / sizeof(T);
  constexpr int kVectorsPerRow = kColumns / kVector;
  for (int i = threadIdx.x; i < kRows * kVectorsPerRow; i += kThreads) {
    const int row = i / kVectorsPerRow;
    const int column = i % kVectorsPerRow * kVector;
    uint4 vector = {};
    if (row < row_count) vector = *reinterpret_cast<const uint4*>(matrix + row * kColumns + column);
    *reinterpret_cast<uint4*>(&tile[row][column]) = vector;
  }
}
// END SOLUTION
