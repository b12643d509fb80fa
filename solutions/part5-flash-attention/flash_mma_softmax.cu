#include "flash_mma_softmax.h"

#include "fragments.h"
#include "tiles.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "warp.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: start from flash_mma_scores, with a block for each 32 queries.
namespace {

constexpr int kTile = 32;              // queries in a tile, and keys
constexpr int kHeadDim = 64;           // columns of q, k, v and out
constexpr int kStride = kHeadDim + 8;  // of rows in shared memory, for ldmatrix without conflicts
constexpr int kWarpRows = 16;          // queries of a warp
constexpr int kThreads = 32 * kTile / kWarpRows;
constexpr int kRowLanes = 4;  // that share the elements of a row

using Tile = __half[kTile][kStride];

// scores = scale * queries keys^T, 16 queries x 8 keys in each of them.
__device__ void multiply_q_k(const __half* queries, const Tile& keys, float scale,
                             Sums (&scores)[kTile / 8]) {
  for (int d = 0; d < kHeadDim; d += 16) {
    FragmentA<__half> query;
    load_a(queries + d, kStride, query);
    for (int j = 0; j < kTile; j += 16) {
      FragmentB<__half> key[2];
      load_b_transposed(&keys[j][d], kStride, key);
      multiply_add(query, key[0], scores[j / 8]);
      multiply_add(query, key[1], scores[j / 8 + 1]);
    }
  }
  for (Sums& part : scores) {
    for (float& score : part.value) score *= scale;
  }
}

// Makes weights of the scores of the lane's two rows, `row` and `row + 8`.
__device__ void take_softmax(Sums (&scores)[kTile / 8], float (&maximum)[2], float (&sum)[2]) {
  for (int r = 0; r < 2; ++r) {
    maximum[r] = -INFINITY;
    for (const Sums& part : scores) {
      maximum[r] = fmaxf(maximum[r], fmaxf(part.value[2 * r], part.value[2 * r + 1]));
    }
    maximum[r] = warp_max<kRowLanes>(maximum[r]);
    sum[r] = 0.0f;
    for (Sums& part : scores) {
      for (int i = 2 * r; i < 2 * r + 2; ++i) {
        part.value[i] = expf(part.value[i] - maximum[r]);
        sum[r] += part.value[i];
      }
    }
    sum[r] = warp_sum<kRowLanes>(sum[r]);
  }
}

__global__ void flash_mma_softmax_kernel(const __half* q, const __half* k, const __half* v,
                                         __half* out, float* log_sum_exp, float scale) {
  __shared__ __align__(16) Tile queries, keys, values;
  copy_tile<kThreads, kTile, kHeadDim>(q + blockIdx.x * kTile * kHeadDim, kTile, queries);
  copy_tile<kThreads, kTile, kHeadDim>(k, kTile, keys);
  copy_tile<kThreads, kTile, kHeadDim>(v, kTile, values);
  __syncthreads();  // the tiles are complete

  const int warp_row = threadIdx.x / 32 * kWarpRows;
  Sums scores[kTile / 8];
  multiply_q_k(queries[warp_row], keys, scale, scores);

  float maximum[2], sum[2];
  take_softmax(scores, maximum, sum);

  Sums results[kHeadDim / 8];  // 16 queries x 8 columns of out each
  for (int j = 0; j < kTile; j += 16) {
    const FragmentA<__half> weight = to_fragment_a<__half>(scores[j / 8], scores[j / 8 + 1]);
    for (int d = 0; d < kHeadDim; d += 16) {
      FragmentB<__half> value[2];
      load_b(&values[j][d], kStride, value);
      multiply_add(weight, value[0], results[d / 8]);
      multiply_add(weight, value[1], results[d / 8 + 1]);
    }
  }

  const int row = blockIdx.x * kTile + warp_row + threadIdx.x % 32 / kRowLanes;
  const int column = threadIdx.x % kRowLanes * 2;
  for (int d = 0; d < kHeadDim; d += 8) {
    for (int i = 0; i < 4; ++i) {
      const int at = (row + i / 2 * 8) * kHeadDim + d + column + i % 2;
      out[at] = __float2half(results[d / 8].value[i] / sum[i / 2]);
    }
  }
  for (int r = 0; r < 2; ++r) {
    if (column == 0) log_sum_exp[row + 8 * r] = maximum[r] + logf(sum[r]);
  }
}

}  // namespace
// END SOLUTION

void flash_mma_softmax(const __half* q, const __half* k, const __half* v, __half* out,
                       float* log_sum_exp, int query_length, float scale) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("start from flash_mma_scores, and take the softmax of the scores in registers");
  const int tiles = query_length / kTile;
  flash_mma_softmax_kernel<<<tiles, kThreads>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
