#include "flash_online.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "warp.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: start from flash_softmax, with a loop over the tiles of keys.
namespace {

constexpr int kTile = 32;                   // queries in a tile, and keys
constexpr int kHeadDim = 64;                // of q, k, v and out
constexpr int kColumns = kHeadDim / kTile;  // of out, for each thread

// A warp has one query. Each of its lanes has one key of a tile, and kColumns columns of out.
__global__ void __launch_bounds__(kTile* kTile)
    flash_online_kernel(const float* q, const float* k, const float* v, float* out,
                        float* log_sum_exp, AttentionShape shape) {
  __shared__ float queries[kTile][kHeadDim];
  __shared__ float keys[kTile][kHeadDim + 1];
  __shared__ float values[kTile][kHeadDim];
  __shared__ float weights[kTile][kTile];

  const int row = threadIdx.y;
  const int lane = threadIdx.x;
  const int query = blockIdx.x * kTile + row;
  load_tile<kHeadDim>(q + blockIdx.x * kTile * kHeadDim, kTile, queries);

  // What the query knows of the tiles so far.
  float maximum = -INFINITY;
  float sum = 0.0f;
  float acc[kColumns] = {};
  for (int first_key = 0; first_key < shape.key_length; first_key += kTile) {
    __syncthreads();  // nobody needs the last tiles any more
    load_tile<kHeadDim>(k + first_key * kHeadDim, kTile, keys);
    load_tile<kHeadDim>(v + first_key * kHeadDim, kTile, values);
    __syncthreads();  // the tiles are complete

    const float score = shape.scale * dot<kHeadDim>(queries[row], keys[lane]);
    const float new_maximum = fmaxf(maximum, warp_max(score));
    const float rescale = expf(maximum - new_maximum);
    const float weight = expf(score - new_maximum);
    maximum = new_maximum;
    sum = sum * rescale + warp_sum(weight);
    weights[row][lane] = weight;
    __syncwarp();  // the row of weights is complete

    for (int c = 0; c < kColumns; ++c) {
      acc[c] *= rescale;
      for (int j = 0; j < kTile; ++j) acc[c] += weights[row][j] * values[j][lane + c * kTile];
    }
  }
  for (int c = 0; c < kColumns; ++c) {
    out[query * kHeadDim + lane + c * kTile] = acc[c] / sum;
  }
  if (lane == 0) log_sum_exp[query] = maximum + logf(sum);
}

}  // namespace
// END SOLUTION

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("start from flash_softmax, and walk over the tiles of keys and values");
  const int tiles = shape.query_length / kTile;
  flash_online_kernel<<<tiles, dim3(kTile, kTile)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
