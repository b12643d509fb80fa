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

// flash_grouped, made fast, and for all types and head sizes. A thread computes several rows of
// scores times several keys: what it loads from shared memory serves several multiply-adds.
constexpr int kThreadRows = 8;      // a block is kThreadRows x kThreadColumns threads, and
constexpr int kThreadColumns = 16;  // half a warp shares its rows
constexpr int kThreads = kThreadRows * kThreadColumns;
constexpr int kVector = 4;  // floats in one load from shared memory

// A block's tiles. They fit into 64 KiB, which every GPU has.
template <int kHeadDim>
struct Tiles {
  static constexpr int kQueries = kHeadDim == 256 ? 32 : 64;
  static constexpr int kKeys = kHeadDim == 64 ? 64 : 32;
  static constexpr int kSlice = kHeadDim == 64 ? 64 : 128;  // columns of keys and values at a time
  static constexpr int kSlices = kHeadDim / kSlice;

  float queries[kQueries][kHeadDim];
  // A slice of the keys, and once the scores are there, of the values. The padding puts the same
  // column of neighbouring rows, which neighbouring threads read, into different banks.
  float keys[kKeys][kSlice + kVector];
  float weights[kQueries][kKeys];
};

// What a thread computes. Its rows, keys and vectors of out lie kThreadRows or kThreadColumns
// apart.
template <int kHeadDim>
struct RegisterTile {
  using Tile = Tiles<kHeadDim>;
  static constexpr int kRows = Tile::kQueries / kThreadRows;
  static constexpr int kKeys = Tile::kKeys / kThreadColumns;
  static constexpr int kSliceVectors = Tile::kSlice / kThreadColumns / kVector;

  float scores[kRows][kKeys];
  OnlineSoftmax softmax[kRows];  // all threads of a row have the same maximum
  float4 acc[kRows][Tile::kSlices * kSliceVectors] = {};

  __device__ static int row(int r) { return threadIdx.x / kThreadColumns + r * kThreadRows; }
  __device__ static int key(int c) { return threadIdx.x % kThreadColumns + c * kThreadColumns; }

  // scores += queries keys^T over one slice, four steps along head_dim at a time.
  __device__ void multiply_q_k(const Tile& tiles, int slice) {
#pragma unroll 4
    for (int d = 0; d < Tile::kSlice; d += kVector) {
      float4 keys[kKeys];
      for (int c = 0; c < kKeys; ++c) keys[c] = load4(&tiles.keys[key(c)][d]);
      for (int r = 0; r < kRows; ++r) {
        const float4 query = load4(&tiles.queries[row(r)][slice * Tile::kSlice + d]);
        for (int c = 0; c < kKeys; ++c) add_dot(scores[r][c], query, keys[c]);
      }
    }
  }

  // The scores of keys that their query does not see become minus infinity.
  __device__ void mask(int first_query, int first_key, const AttentionShape& shape) {
    for (int r = 0; r < kRows; ++r) {
      const int first = first_visible(first_query + row(r), shape) - first_key;
      const int last = last_visible(first_query + row(r), shape) - first_key;
      for (int c = 0; c < kKeys; ++c) {
        if (key(c) < first || key(c) > last) scores[r][c] = -INFINITY;
      }
    }
  }

  // Makes weights of the scores, and rescales what was summed so far to the new maximum.
  __device__ void update_rows(Tile& tiles) {
    for (int r = 0; r < kRows; ++r) {
      float largest = -INFINITY;
      for (const float score : scores[r]) largest = fmaxf(largest, score);
      const float factor = softmax[r].raise_maximum(warp_max<kThreadColumns>(largest));
      for (float4& part : acc[r]) part = part * factor;
      for (int c = 0; c < kKeys; ++c) tiles.weights[row(r)][key(c)] = softmax[r].add(scores[r][c]);
    }
  }

  // acc += weights values for one slice of the values, four keys at a time.
  __device__ void multiply_weights_v(const Tile& tiles, int slice) {
#pragma unroll 2
    for (int j = 0; j < Tile::kKeys; j += kVector) {
      float4 values[kVector][kSliceVectors];
      for (int e = 0; e < kVector; ++e) {
        for (int c = 0; c < kSliceVectors; ++c) {
          values[e][c] = load4(&tiles.keys[j + e][key(c) * kVector]);
        }
      }
      for (int r = 0; r < kRows; ++r) {
        const float4 weight = load4(&tiles.weights[row(r)][j]);
        for (int c = 0; c < kSliceVectors; ++c) {
          float4& sum = acc[r][slice * kSliceVectors + c];
          add_product(sum, weight.x, values[0][c]);
          add_product(sum, weight.y, values[1][c]);
          add_product(sum, weight.z, values[2][c]);
          add_product(sum, weight.w, values[3][c]);
        }
      }
    }
  }

  // Divides by the sums and stores the first row_count rows.
  template <typename T>
  __device__ void store(int row_count, T* out, float* log_sum_exp) {
    for (int r = 0; r < kRows; ++r) {
      const float sum = warp_sum<kThreadColumns>(softmax[r].sum);
      if (row(r) >= row_count) continue;
      const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;  // a row without keys is 0
      for (int c = 0; c < Tile::kSlices * kSliceVectors; ++c) {
        store4(out + row(r) * kHeadDim + key(c) * kVector, acc[r][c] * inverse);
      }
      if (key(0) == 0) log_sum_exp[row(r)] = log_sum_exp_of(softmax[r].maximum, sum);
    }
  }
};

// A block computes Tiles::kQueries queries of one head, over the tiles of keys that any of them
// sees.
template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads)
    flash_forward_kernel(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                         AttentionShape shape) {
  using Tile = Tiles<kHeadDim>;
  extern __shared__ __align__(16) float shared[];
  Tile& tiles = *reinterpret_cast<Tile*>(shared);
  const QueryTile block = query_tile_of_block(shape, Tile::kQueries);
  load_as_float<kThreads, kHeadDim>(q + block.first_row * kHeadDim, kHeadDim, block.query_count,
                                    shape.scale * kLog2E, tiles.queries);
  const auto load_slice = [&](const T* matrix, int first_key, int slice) {
    __syncthreads();  // nobody needs what lies there any more
    matrix += (block.first_key_row + first_key) * kHeadDim + slice * Tile::kSlice;
    load_as_float<kThreads, Tile::kSlice>(matrix, kHeadDim, shape.key_length - first_key, 1.0f,
                                          tiles.keys);
    __syncthreads();  // the slice, and what else was stored before, is complete
  };

  RegisterTile<kHeadDim> own;
  const int begin = first_visible(block.first_query, shape) / Tile::kKeys * Tile::kKeys;
  const int end = last_visible(block.first_query + block.query_count - 1, shape) + 1;
  for (int key = begin; key < end; key += Tile::kKeys) {
    for (auto& row : own.scores) {
      for (float& score : row) score = 0.0f;
    }
#pragma unroll  // acc is indexed by constants alone, or it would not stay in registers
    for (int slice = 0; slice < Tile::kSlices; ++slice) {
      load_slice(k, key, slice);
      own.multiply_q_k(tiles, slice);
    }
    own.mask(block.first_query, key, shape);
    own.update_rows(tiles);
#pragma unroll
    for (int slice = 0; slice < Tile::kSlices; ++slice) {
      load_slice(v, key, slice);
      own.multiply_weights_v(tiles, slice);
    }
  }
  own.store(block.query_count, out + block.first_row * kHeadDim, log_sum_exp + block.first_row);
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
    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tile)));
    const dim3 grid = grid_of_query_tiles(shape, Tile::kQueries);
    kernel<<<grid, kThreads, sizeof(Tile), stream>>>(q, k, v, out, log_sum_exp, shape);
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
