#include "flash_tensor_cores.h"

#include "common.cuh"
#include "fragments.h"
#include "tiles.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"
#include "warp.h"

// BEGIN SOLUTION
// STARTER: // Your kernels go here: start from flash_mma_softmax, with the loop and the masks of flash_forward.
namespace {

// flash_mma_softmax with the loop over tiles of keys, the masks and the heads of flash_grouped.
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * 32;
constexpr int kWarpRows = 16;  // queries of a warp
constexpr int kQueries = kWarps * kWarpRows;
constexpr int kRowLanes = 4;  // that share the elements of a row

// The first of the lane's two rows in the block's tile; the other one is 8 below.
__device__ int first_row_of_lane() {
  return threadIdx.x / 32 * kWarpRows + threadIdx.x % 32 / kRowLanes;
}

template <int kHeadDim>
struct Tiles {
  static constexpr int kKeys = kHeadDim == 256 ? 32 : 64;  // in a tile, and as many values
  static constexpr int kStride = kHeadDim + 8;             // for ldmatrix without bank conflicts
};
template <typename T, int kHeadDim>
using Tile = T[Tiles<kHeadDim>::kKeys][Tiles<kHeadDim>::kStride];

// The 16 rows of a warp. A lane has elements of `row` and `row + 8`.
template <typename T, int kHeadDim>
struct WarpRows {
  static constexpr int kKeys = Tiles<kHeadDim>::kKeys;
  static constexpr int kStride = Tiles<kHeadDim>::kStride;

  FragmentA<T> queries[kHeadDim / 16];  // stay in registers all the time
  Sums scores[kKeys / 8];               // 16 queries x 8 keys each, then their weights
  OnlineSoftmax softmax[2];             // the lanes of a row have the same maximum
  Sums acc[kHeadDim / 8];               // 16 queries x 8 columns of out each

  // scores = queries keys^T.
  __device__ void multiply_q_k(const Tile<T, kHeadDim>& keys) {
    for (Sums& part : scores) part = {};
    for (int d = 0; d < kHeadDim; d += 16) {
      for (int j = 0; j < kKeys; j += 16) {
        FragmentB<T> key[2];
        load_b_transposed(&keys[j][d], kStride, key);
        multiply_add(queries[d / 16], key[0], scores[j / 8]);
        multiply_add(queries[d / 16], key[1], scores[j / 8 + 1]);
      }
    }
  }

  // The scores of keys that their query does not see become minus infinity. `first_query` is that
  // of `row`, `first_key` the tile's first key.
  __device__ void mask(int first_query, int first_key, const AttentionShape& shape) {
    for (int r = 0; r < 2; ++r) {
      const int first = first_visible(first_query + 8 * r, shape);
      const int last = last_visible(first_query + 8 * r, shape);
      int key = first_key + threadIdx.x % kRowLanes * 2;
      for (Sums& part : scores) {
        if (key < first || key > last) part.value[2 * r] = -INFINITY;
        if (key + 1 < first || key + 1 > last) part.value[2 * r + 1] = -INFINITY;
        key += 8;
      }
    }
  }

  // Makes weights of the scores, and rescales what was summed so far to the new maximum. `scale`
  // includes log2(e).
  __device__ void update_rows(float scale) {
    for (int r = 0; r < 2; ++r) {
      float largest = -INFINITY;
      for (const Sums& part : scores) {
        largest = fmaxf(largest, fmaxf(part.value[2 * r], part.value[2 * r + 1]));
      }
      const float factor = softmax[r].raise_maximum(scale * warp_max<kRowLanes>(largest));
      for (Sums& part : acc) {
        part.value[2 * r] *= factor;
        part.value[2 * r + 1] *= factor;
      }
      for (Sums& part : scores) {
        for (int i = 2 * r; i < 2 * r + 2; ++i)
          part.value[i] = softmax[r].add(scale * part.value[i]);
      }
    }
  }

  // acc += weights values.
  __device__ void multiply_weights_v(const Tile<T, kHeadDim>& values) {
    for (int j = 0; j < kKeys; j += 16) {
      const FragmentA<T> weight = to_fragment_a<T>(scores[j / 8], scores[j / 8 + 1]);
      for (int d = 0; d < kHeadDim; d += 16) {
        FragmentB<T> value[2];
        load_b(&values[j][d], kStride, value);
        multiply_add(weight, value[0], acc[d / 8]);
        multiply_add(weight, value[1], acc[d / 8 + 1]);
      }
    }
  }

  // Divides by the sums and stores the rows of the block before row_count.
  __device__ void store(int row_count, T* out, float* log_sum_exp) {
    const int column = threadIdx.x % kRowLanes * 2;
    for (int r = 0; r < 2; ++r) {
      const int row = first_row_of_lane() + 8 * r;
      const float sum = warp_sum<kRowLanes>(softmax[r].sum);
      if (row >= row_count) continue;
      const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;  // a row without keys is 0
      for (int d = 0; d < kHeadDim; d += 8) {
        const float* result = acc[d / 8].value + 2 * r;
        *reinterpret_cast<std::uint32_t*>(out + row * kHeadDim + d + column) =
            pack<T>(result[0] * inverse, result[1] * inverse);
      }
      if (column == 0) log_sum_exp[row] = log_sum_exp_of(softmax[r].maximum, sum);
    }
  }
};

// A block computes kQueries queries of one head, over the tiles of keys that any of them sees. Each
// warp has rows of its own; all share the tiles of keys and values.
template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads)
    flash_tensor_cores_kernel(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                              AttentionShape shape) {
  constexpr int kKeys = Tiles<kHeadDim>::kKeys;
  constexpr int kStride = Tiles<kHeadDim>::kStride;
  __shared__ __align__(16) T tiles[2 * kKeys][kStride];
  static_assert(kQueries <= 2 * kKeys, "the queries have room where keys and values go");
  auto& keys = reinterpret_cast<Tile<T, kHeadDim>&>(tiles);
  auto& values = reinterpret_cast<Tile<T, kHeadDim>&>(tiles[kKeys]);

  const QueryTile block = query_tile_of_block(shape, kQueries);
  const int warp_row = threadIdx.x / 32 * kWarpRows;
  WarpRows<T, kHeadDim> rows;
  copy_tile<kThreads, kQueries, kHeadDim>(q + block.first_row * kHeadDim, block.query_count, tiles);
  __syncthreads();  // the queries are complete
  for (int d = 0; d < kHeadDim; d += 16) load_a(&tiles[warp_row][d], kStride, rows.queries[d / 16]);

  const int begin = first_visible(block.first_query, shape) / kKeys * kKeys;
  const int end = last_visible(block.first_query + block.query_count - 1, shape) + 1;
  // All of the block's queries see the keys from first_of_all to before end_of_all.
  const int first_of_all = first_visible(block.first_query + kQueries - 1, shape);
  const int end_of_all = last_visible(block.first_query, shape) + 1;
  for (int key = begin; key < end; key += kKeys) {
    const size_t from = (block.first_key_row + key) * kHeadDim;
    __syncthreads();  // nobody needs the tiles before any more
    copy_tile<kThreads, kKeys, kHeadDim>(k + from, shape.key_length - key, keys);
    copy_tile<kThreads, kKeys, kHeadDim>(v + from, shape.key_length - key, values);
    __syncthreads();  // the tiles are complete
    rows.multiply_q_k(keys);
    const bool all_visible = key >= first_of_all && key + kKeys <= end_of_all;
    if (!all_visible) rows.mask(block.first_query + first_row_of_lane(), key, shape);
    rows.update_rows(shape.scale * kLog2E);
    rows.multiply_weights_v(values);
  }
  rows.store(block.query_count, out + block.first_row * kHeadDim, log_sum_exp + block.first_row);
}

}  // namespace
// END SOLUTION

template <typename T>
void flash_tensor_cores(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                        const AttentionShape& shape, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("start from flash_mma_softmax, and put the loop over tiles around it");
  with_head_dim(shape.head_dim, [&]<int kHeadDim>(HeadDim<kHeadDim>) {
    const dim3 grid = grid_of_query_tiles(shape, kQueries);
    flash_tensor_cores_kernel<T, kHeadDim>
        <<<grid, kThreads, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
    CUDA_CHECK(cudaGetLastError());
  });
  // END SOLUTION
}

template void flash_tensor_cores(const __half*, const __half*, const __half*, __half*, float*,
                                 const AttentionShape&, cudaStream_t);
template void flash_tensor_cores(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                                 __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
