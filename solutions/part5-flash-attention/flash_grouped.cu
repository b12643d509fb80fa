#include "flash_grouped.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "warp.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: start from flash_masked, with a block for each head, too.
namespace {

constexpr int kTile = 32;     // queries in a tile, and keys
constexpr int kHeadDim = 64;  // of q, k, v and out

// flash_masked, with a block for each tile of queries of each head. A warp has one query.
__global__ void __launch_bounds__(kTile* kTile)
    flash_grouped_kernel(const float* q, const float* k, const float* v, float* out,
                         float* log_sum_exp, AttentionShape shape) {
  __shared__ float queries[kTile][kHeadDim];
  __shared__ float keys[kTile][kHeadDim + 1];
  __shared__ float values[kTile][kHeadDim];
  __shared__ float weights[kTile][kTile];

  const int row = threadIdx.y;
  const int lane = threadIdx.x;
  const int head = blockIdx.y;
  const int batch = blockIdx.z;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);

  // From here on, the arrays are those of this head of this sequence.
  const int query_rows = (batch * shape.query_heads + head) * shape.query_length;
  const int key_rows = (batch * shape.key_value_heads + key_head) * shape.key_length;
  q += query_rows * kHeadDim;
  k += key_rows * kHeadDim;
  v += key_rows * kHeadDim;
  out += query_rows * kHeadDim;
  log_sum_exp += query_rows;

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

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("start from flash_masked, and let each block find its sequence and its head");
  const int tiles = (shape.query_length + kTile - 1) / kTile;
  const dim3 grid(tiles, shape.query_heads, shape.batch);
  flash_grouped_kernel<<<grid, dim3(kTile, kTile)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
