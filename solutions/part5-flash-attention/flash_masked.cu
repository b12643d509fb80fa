#include "flash_masked.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "warp.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: start from flash_online, and mask the scores.
namespace {

constexpr int kTile = 32;     // queries in a tile, and keys
constexpr int kHeadDim = 64;  // of q, k, v and out

// flash_online, for any lengths and with masks. A warp has one query.
__global__ void __launch_bounds__(kTile* kTile)
    flash_masked_kernel(const float* q, const float* k, const float* v, float* out,
                        float* log_sum_exp, AttentionShape shape) {
  __shared__ float queries[kTile][kHeadDim];
  __shared__ float keys[kTile][kHeadDim + 1];
  __shared__ float values[kTile][kHeadDim];
  __shared__ float weights[kTile][kTile];

  const int row = threadIdx.y;
  const int lane = threadIdx.x;
  const int first_query = blockIdx.x * kTile;
  const int query_count = min(kTile, shape.query_length - first_query);
  const int query = first_query + row;
  load_tile<kHeadDim>(q + first_query * kHeadDim, query_count, queries);

  // The block visits the tiles of keys that any of its queries sees.
  const int begin = first_visible(first_query, shape) / kTile * kTile;
  const int end = last_visible(first_query + query_count - 1, shape) + 1;

  WarpRow state;
  for (int first_key = begin; first_key < end; first_key += kTile) {
    __syncthreads();  // nobody needs the last tiles any more
    load_tile<kHeadDim>(k + first_key * kHeadDim, shape.key_length - first_key, keys);
    load_tile<kHeadDim>(v + first_key * kHeadDim, shape.key_length - first_key, values);
    __syncthreads();  // the tiles are complete

    const int key = first_key + lane;
    const bool is_visible = key >= first_visible(query, shape) && key <= last_visible(query, shape);
    const float score =
        is_visible ? shape.scale * dot<kHeadDim>(queries[row], keys[lane]) : -INFINITY;
    weights[row][lane] = state.take_softmax(score);
    __syncwarp();  // the row of weights is complete
    state.add_values(weights[row], values);
  }
  if (row < query_count) state.store(out + query * kHeadDim, log_sum_exp + query);
}

}  // namespace
// END SOLUTION

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("start from flash_online, and mask the scores that a query must not see");
  const int tiles = (shape.query_length + kTile - 1) / kTile;
  flash_masked_kernel<<<tiles, dim3(kTile, kTile)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
