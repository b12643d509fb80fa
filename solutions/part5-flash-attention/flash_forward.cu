#include "flash_forward.h"

#include "common.cuh"
#include "tiles.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"
#include "warp.h"

// BEGIN SOLUTION
// STARTER: // Your kernels go here: start from flash_grouped, with templates for type and head size.
namespace {

// flash_grouped, made fast, and for all types and head sizes. What is new:
//
// - Register tiles. A thread computes several rows of scores times several keys, so that what it
//   loads from shared memory serves several multiply-adds. It loads four floats at a time.
// - Types and head sizes are template parameters. Keys and values share one tile, whose columns
//   come in slices where they are many: head_dim 256 then fits into 64 KiB, too.
// - Exponentials to base 2, which GPUs have in hardware. Weights are the same where scores are
//   multiplied by log2(e), and it joins the scale.
// - Blocks with the most keys start first.
constexpr int kThreadRows = 8;      // a block is kThreadRows x kThreadColumns threads, and
constexpr int kThreadColumns = 16;  // half a warp shares its rows
constexpr int kThreads = kThreadRows * kThreadColumns;
constexpr int kVector = 4;  // floats in one load from shared memory

// Tile sizes, such that tiles of fp32 fit into 64 KiB, which every GPU has.
template <int kHeadDim>
struct Tiles {
  static constexpr int kQueries = kHeadDim == 256 ? 32 : 64;
  static constexpr int kKeys = kHeadDim == 64 ? 64 : 32;
  static constexpr int kSlice = kHeadDim == 64 ? 64 : 128;  // columns of keys and values at a time
  static constexpr int kSlices = kHeadDim / kSlice;

  // Each thread computes kRows rows times kKeyColumns columns of the scores, and the same rows
  // times kValueVectors vectors of out: its register tiles. Its rows, keys and vectors lie apart.
  static constexpr int kRows = kQueries / kThreadRows;
  static constexpr int kKeyColumns = kKeys / kThreadColumns;
  static constexpr int kSliceVectors = kSlice / kThreadColumns / kVector;
  static constexpr int kValueVectors = kSlices * kSliceVectors;

  // The tiles in shared memory, one after the other. Rows of keys are padded: neighbouring threads
  // read the same place of neighbouring rows, which must lie in different banks.
  static constexpr int kKeyStride = kSlice + kVector;
  static constexpr int kQueryFloats = kQueries * kHeadDim;
  static constexpr int kKeyFloats = kKeys * kKeyStride;  // of keys or of values
  static constexpr int kWeightFloats = kQueries * kKeys;
  static constexpr int kSharedBytes =
      (kQueryFloats + kKeyFloats + kWeightFloats) * static_cast<int>(sizeof(float));
};

// Where a thread stands in its block.
struct Place {
  int row = threadIdx.x / kThreadColumns;
  int column = threadIdx.x % kThreadColumns;
};

// What a thread knows of its rows after the tiles so far. All threads of a row have the same
// maximum, and each its own part of the sum and of acc.
template <int kHeadDim>
struct Rows {
  float maximum[Tiles<kHeadDim>::kRows];
  float sum[Tiles<kHeadDim>::kRows] = {};
  float4 acc[Tiles<kHeadDim>::kRows][Tiles<kHeadDim>::kValueVectors] = {};
};

template <int kHeadDim>
using Scores = float[Tiles<kHeadDim>::kRows][Tiles<kHeadDim>::kKeyColumns];

// scores += queries keys^T over one slice, four steps along head_dim at a time: what a thread loads
// for one of its rows serves all of its keys, and the other way round.
template <int kHeadDim>
__device__ void multiply_q_k(const float* queries, const float* keys, Place place,
                             Scores<kHeadDim>& scores) {
  using Tile = Tiles<kHeadDim>;
#pragma unroll 4
  for (int d = 0; d < Tile::kSlice; d += kVector) {
    float4 key[Tile::kKeyColumns];
#pragma unroll
    for (int c = 0; c < Tile::kKeyColumns; ++c) {
      key[c] = load4(keys + (place.column + c * kThreadColumns) * Tile::kKeyStride + d);
    }
#pragma unroll
    for (int r = 0; r < Tile::kRows; ++r) {
      const float4 query = load4(queries + (place.row + r * kThreadRows) * kHeadDim + d);
#pragma unroll
      for (int c = 0; c < Tile::kKeyColumns; ++c) {
        add_dot(scores[r][c], query, key[c]);
      }
    }
  }
}

// Takes the scores of a tile, whose first key is first_key, into the rows: masks them, rescales
// what was summed so far to the new maximum, and stores the tile's weights. Scores are times
// log2(e).
template <int kHeadDim>
__device__ void update_rows(Scores<kHeadDim>& scores, int first_query, int first_key,
                            const AttentionShape& shape, Place place, Rows<kHeadDim>& rows,
                            float* weights) {
  using Tile = Tiles<kHeadDim>;
#pragma unroll
  for (int r = 0; r < Tile::kRows; ++r) {
    const int row = place.row + r * kThreadRows;
    const int first = first_visible(first_query + row, shape);
    const int last = last_visible(first_query + row, shape);
    float largest = rows.maximum[r];
#pragma unroll
    for (int c = 0; c < Tile::kKeyColumns; ++c) {
      const int key = first_key + place.column + c * kThreadColumns;
      if (key < first || key > last) scores[r][c] = -INFINITY;
      largest = fmaxf(largest, scores[r][c]);
    }
    largest = warp_max<kThreadColumns>(largest);
    const float base = finite_or_zero(largest);
    const float rescale = exp2f(rows.maximum[r] - base);
    rows.maximum[r] = largest;
    rows.sum[r] *= rescale;
#pragma unroll
    for (float4& part : rows.acc[r]) part = part * rescale;
#pragma unroll
    for (int c = 0; c < Tile::kKeyColumns; ++c) {
      const float weight = exp2f(scores[r][c] - base);
      rows.sum[r] += weight;
      weights[row * Tile::kKeys + place.column + c * kThreadColumns] = weight;
    }
  }
}

// acc += weights values for one slice of the values, four keys at a time.
template <int kHeadDim>
__device__ void multiply_weights_v(const float* weights, const float* values, int slice,
                                   Place place, Rows<kHeadDim>& rows) {
  using Tile = Tiles<kHeadDim>;
#pragma unroll 2
  for (int j = 0; j < Tile::kKeys; j += kVector) {
    float4 value[kVector][Tile::kSliceVectors];
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
#pragma unroll
      for (int c = 0; c < Tile::kSliceVectors; ++c) {
        const int column = (place.column + c * kThreadColumns) * kVector;
        value[e][c] = load4(values + (j + e) * Tile::kKeyStride + column);
      }
    }
#pragma unroll
    for (int r = 0; r < Tile::kRows; ++r) {
      const float4 weight = load4(weights + (place.row + r * kThreadRows) * Tile::kKeys + j);
#pragma unroll
      for (int c = 0; c < Tile::kSliceVectors; ++c) {
        float4& sum = rows.acc[r][slice * Tile::kSliceVectors + c];
        add_product(sum, weight.x, value[0][c]);
        add_product(sum, weight.y, value[1][c]);
        add_product(sum, weight.z, value[2][c]);
        add_product(sum, weight.w, value[3][c]);
      }
    }
  }
}

// Divides by the sums and stores the first row_count rows.
template <typename T, int kHeadDim>
__device__ void store_rows(const Rows<kHeadDim>& rows, int row_count, Place place, T* out,
                           float* log_sum_exp) {
  using Tile = Tiles<kHeadDim>;
#pragma unroll
  for (int r = 0; r < Tile::kRows; ++r) {
    const int row = place.row + r * kThreadRows;
    const float sum = warp_sum<kThreadColumns>(rows.sum[r]);
    if (row >= row_count) continue;
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;  // a row without keys is 0
#pragma unroll
    for (int c = 0; c < Tile::kValueVectors; ++c) {
      const int column = (place.column + c * kThreadColumns) * kVector;
      store4(out + row * kHeadDim + column, rows.acc[r][c] * inverse);
    }
    if (place.column == 0) log_sum_exp[row] = rows.maximum[r] / kLog2E + logf(sum);
  }
}

// A block computes Tiles::kQueries queries of one head, over the tiles of keys that any of them
// sees.
template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads)
    flash_forward_kernel(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                         AttentionShape shape) {
  using Tile = Tiles<kHeadDim>;
  extern __shared__ __align__(16) float shared[];
  float* const queries = shared;
  float* const keys = queries + Tile::kQueryFloats;
  float* const values = keys;  // take the place of the keys, once the scores are there
  float* const weights = keys + Tile::kKeyFloats;

  const Place place;
  const QueryTile tile = query_tile_of_block(shape, Tile::kQueries);
  load_as_float<kThreads, Tile::kQueries, kHeadDim>(q + tile.first_row * kHeadDim, kHeadDim,
                                                    tile.query_count, shape.scale * kLog2E, queries,
                                                    kHeadDim);
  const auto load_slice = [&](const T* matrix, int first_key, int slice, float* to) {
    matrix += (tile.first_key_row + first_key) * kHeadDim + slice * Tile::kSlice;
    load_as_float<kThreads, Tile::kKeys, Tile::kSlice>(
        matrix, kHeadDim, shape.key_length - first_key, 1.0f, to, Tile::kKeyStride);
  };

  Rows<kHeadDim> rows;
  for (float& maximum : rows.maximum) maximum = -INFINITY;
  const int begin = first_visible(tile.first_query, shape) / Tile::kKeys * Tile::kKeys;
  const int end = last_visible(tile.first_query + tile.query_count - 1, shape) + 1;
  for (int key = begin; key < end; key += Tile::kKeys) {
    Scores<kHeadDim> scores = {};
#pragma unroll
    for (int slice = 0; slice < Tile::kSlices; ++slice) {
      __syncthreads();  // nobody needs what lies there any more
      load_slice(k, key, slice, keys);
      __syncthreads();  // the keys are complete
      multiply_q_k<kHeadDim>(queries + slice * Tile::kSlice, keys, place, scores);
    }
    update_rows<kHeadDim>(scores, tile.first_query, key, shape, place, rows, weights);
#pragma unroll
    for (int slice = 0; slice < Tile::kSlices; ++slice) {
      __syncthreads();  // nobody needs the keys, or the values before, any more
      load_slice(v, key, slice, values);
      __syncthreads();  // the values and the weights are complete
      multiply_weights_v<kHeadDim>(weights, values, slice, place, rows);
    }
  }
  store_rows<T, kHeadDim>(rows, tile.query_count, place, out + tile.first_row * kHeadDim,
                          log_sum_exp + tile.first_row);
}

}  // namespace
// END SOLUTION

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("start from flash_grouped, and make type and head size template parameters");
  with_head_dim(shape.head_dim, [&]<int kHeadDim>(HeadDim<kHeadDim>) {
    using Tile = Tiles<kHeadDim>;
    const auto kernel = flash_forward_kernel<T, kHeadDim>;
    // More than 48 KiB must be asked for.
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    Tile::kSharedBytes));
    const dim3 grid = grid_of_query_tiles(shape, Tile::kQueries);
    kernel<<<grid, kThreads, Tile::kSharedBytes, stream>>>(q, k, v, out, log_sum_exp, shape);
    CUDA_CHECK(cudaGetLastError());
  });
  // END SOLUTION
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
