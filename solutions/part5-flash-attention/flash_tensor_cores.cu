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

// flash_mma_softmax with the loop over tiles of keys, the masks and the heads of flash_forward.
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * 32;
constexpr int kWarpRows = 16;  // queries of a warp
constexpr int kQueries = kWarps * kWarpRows;
constexpr int kRowLanes = 4;  // that share the elements of a row

template <int kHeadDim>
struct Tiles {
  static constexpr int kKeys = kHeadDim == 256 ? 32 : 64;  // in a tile, and as many values
  static constexpr int kStride = kHeadDim + 8;             // for ldmatrix without bank conflicts
};

// What a lane knows of its rows, `row` and `row + 8` of the warp, after the tiles so far. The lanes
// of a row have the same maximum, and each its own part of the sum.
template <int kHeadDim>
struct Rows {
  float maximum[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};
  Sums acc[kHeadDim / 8];  // 16 queries x 8 columns of out each
};

template <int kHeadDim>
using Scores = Sums[Tiles<kHeadDim>::kKeys / 8];  // 16 queries x 8 keys each

// The warp's queries stay in registers all the time.
template <int kHeadDim, typename T>
using Queries = FragmentA<T>[kHeadDim / 16];

// scores += queries keys^T.
template <int kHeadDim, typename T>
__device__ void multiply_q_k(const Queries<kHeadDim, T>& queries, const T* keys,
                             Scores<kHeadDim>& scores) {
#pragma unroll
  for (int d = 0; d < kHeadDim; d += 16) {
#pragma unroll
    for (int j = 0; j < Tiles<kHeadDim>::kKeys; j += 16) {
      FragmentB<T> key[2];
      load_b_transposed(keys + j * Tiles<kHeadDim>::kStride + d, Tiles<kHeadDim>::kStride, key);
      multiply_add(queries[d / 16], key[0], scores[j / 8]);
      multiply_add(queries[d / 16], key[1], scores[j / 8 + 1]);
    }
  }
}

// The scores of keys that their query does not see become minus infinity. `first_query` is the
// query of the lane's first row, `first_key` the tile's first key.
template <int kHeadDim>
__device__ void mask_scores(int first_query, int first_key, const AttentionShape& shape,
                            Scores<kHeadDim>& scores) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int first = first_visible(first_query + 8 * r, shape);
    const int last = last_visible(first_query + 8 * r, shape);
    int key = first_key + threadIdx.x % kRowLanes * 2;
#pragma unroll
    for (Sums& part : scores) {
      if (key < first || key > last) part.value[2 * r] = -INFINITY;
      if (key + 1 < first || key + 1 > last) part.value[2 * r + 1] = -INFINITY;
      key += 8;
    }
  }
}

// Takes the scores of a tile into the rows: rescales what was summed so far to the new maximum, and
// makes weights of the scores. `scale` includes log2(e): maxima are to base 2.
template <int kHeadDim>
__device__ void update_rows(float scale, Scores<kHeadDim>& scores, Rows<kHeadDim>& rows) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float largest = -INFINITY;
#pragma unroll
    for (const Sums& part : scores) {
      largest = fmaxf(largest, fmaxf(part.value[2 * r], part.value[2 * r + 1]));
    }
    largest = fmaxf(rows.maximum[r], scale * warp_max<kRowLanes>(largest));
    const float base = finite_or_zero(largest);
    const float rescale = exp2f(rows.maximum[r] - base);
    rows.maximum[r] = largest;
    rows.sum[r] *= rescale;
#pragma unroll
    for (Sums& part : rows.acc) {
      part.value[2 * r] *= rescale;
      part.value[2 * r + 1] *= rescale;
    }
#pragma unroll
    for (Sums& part : scores) {
      for (int i = 2 * r; i < 2 * r + 2; ++i) {
        part.value[i] = exp2f(scale * part.value[i] - base);
        rows.sum[r] += part.value[i];
      }
    }
  }
}

// acc += weights values.
template <int kHeadDim, typename T>
__device__ void multiply_weights_v(const Scores<kHeadDim>& weights, const T* values,
                                   Rows<kHeadDim>& rows) {
#pragma unroll
  for (int j = 0; j < Tiles<kHeadDim>::kKeys; j += 16) {
    const FragmentA<T> weight = to_fragment_a<T>(weights[j / 8], weights[j / 8 + 1]);
#pragma unroll
    for (int d = 0; d < kHeadDim; d += 16) {
      FragmentB<T> value[2];
      load_b(values + j * Tiles<kHeadDim>::kStride + d, Tiles<kHeadDim>::kStride, value);
      multiply_add(weight, value[0], rows.acc[d / 8]);
      multiply_add(weight, value[1], rows.acc[d / 8 + 1]);
    }
  }
}

// Divides the warp's rows by their sums and stores those below row_count.
template <int kHeadDim, typename T>
__device__ void store_rows(const Rows<kHeadDim>& rows, int warp_row, int row_count, T* out,
                           float* log_sum_exp) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = warp_row + lane / kRowLanes + 8 * r;
    const int column = lane % kRowLanes * 2;
    const float sum = warp_sum<kRowLanes>(rows.sum[r]);
    if (row >= row_count) continue;
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;  // a row without keys is 0
#pragma unroll
    for (int d = 0; d < kHeadDim; d += 8) {
      const float* result = rows.acc[d / 8].value + 2 * r;
      *reinterpret_cast<std::uint32_t*>(out + row * kHeadDim + d + column) =
          pack<T>(result[0] * inverse, result[1] * inverse);
    }
    if (column == 0) log_sum_exp[row] = rows.maximum[r] / kLog2E + logf(sum);
  }
}

// A block computes kQueries queries of one head, over the tiles of keys that any of them sees. Each
// warp has rows of its own; all share the tiles of keys and values.
template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads)
    flash_tensor_cores_kernel(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                              AttentionShape shape) {
  using Tile = Tiles<kHeadDim>;
  using Row = T[Tile::kStride];
  __shared__ __align__(16) Row tiles[2 * Tile::kKeys];
  Row* const keys = tiles;
  Row* const values = tiles + Tile::kKeys;
  static_assert(kQueries <= 2 * Tile::kKeys, "the queries have room where keys and values go");

  const QueryTile tile = query_tile_of_block(shape, kQueries);
  const int warp_row = threadIdx.x / 32 * kWarpRows;
  const int first_query = tile.first_query + warp_row + threadIdx.x % 32 / kRowLanes;

  copy_tile<kThreads, kQueries, kHeadDim>(q + tile.first_row * kHeadDim, tile.query_count, tiles);
  __syncthreads();  // the queries are complete
  Queries<kHeadDim, T> queries;
#pragma unroll
  for (int d = 0; d < kHeadDim; d += 16) {
    load_a(&tiles[warp_row][d], Tile::kStride, queries[d / 16]);
  }

  const float scale = shape.scale * kLog2E;
  Rows<kHeadDim> rows;
  const int begin = first_visible(tile.first_query, shape) / Tile::kKeys * Tile::kKeys;
  const int end = last_visible(tile.first_query + tile.query_count - 1, shape) + 1;
  // All of the block's queries see the keys from first_whole to before end_whole.
  const int first_whole = first_visible(tile.first_query + kQueries - 1, shape);
  const int end_whole = last_visible(tile.first_query, shape) + 1;
  for (int key = begin; key < end; key += Tile::kKeys) {
    const size_t from = (tile.first_key_row + key) * kHeadDim;
    __syncthreads();  // nobody needs the tiles before any more
    copy_tile<kThreads, Tile::kKeys, kHeadDim>(k + from, shape.key_length - key, keys);
    copy_tile<kThreads, Tile::kKeys, kHeadDim>(v + from, shape.key_length - key, values);
    __syncthreads();  // the tiles are complete
    Scores<kHeadDim> scores;
    multiply_q_k<kHeadDim>(queries, &keys[0][0], scores);
    const bool sees_all = key >= first_whole && key + Tile::kKeys <= end_whole;
    if (!sees_all) mask_scores<kHeadDim>(first_query, key, shape, scores);
    update_rows<kHeadDim>(scale, scores, rows);
    multiply_weights_v<kHeadDim>(scores, &values[0][0], rows);
  }
  store_rows<kHeadDim>(rows, warp_row, tile.query_count, out + tile.first_row * kHeadDim,
                       log_sum_exp + tile.first_row);
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
