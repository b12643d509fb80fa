#include "flash_forward.h"

#include <stdexcept>
#include <string>

#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"
#include "warp.h"

// BEGIN SOLUTION
// STARTER: // Your kernels go here: start from flash_grouped, with templates for type and head size.
namespace {

// The last step: flash_grouped, made fast, and for all types and head sizes. What is new:
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
constexpr int kVector = 4;                     // floats in one load from shared memory
constexpr float kLog2E = 1.4426950408889634f;  // log2(e)

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

__device__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }

__device__ float4 operator*(float4 v, float factor) {
  return make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}

__device__ void add_product(float4& sum, float factor, float4 v) {
  sum.x += factor * v.x;
  sum.y += factor * v.y;
  sum.z += factor * v.z;
  sum.w += factor * v.w;
}

// Stores four values at once.
template <typename T>
__device__ void store4(T* to, float4 v) {
  struct alignas(kVector * sizeof(T)) Four {
    T x, y, z, w;
  };
  *reinterpret_cast<Four*>(to) = {rooflab::from_float<T>(v.x), rooflab::from_float<T>(v.y),
                                  rooflab::from_float<T>(v.z), rooflab::from_float<T>(v.w)};
}

// All threads copy kColumns columns of `rows` rows of a matrix, which is kHeadDim wide, to `tile`,
// times `factor`; what is left of the tile's kRows rows becomes zero.
template <int kHeadDim, int kRows, int kColumns, int kStride, typename T>
__device__ void load_tile(const T* matrix, int rows, float factor, float* tile) {
  constexpr int kWidth = rooflab::kVectorSize<T>;
  constexpr int kVectorsPerRow = kColumns / kWidth;
  for (int i = threadIdx.x; i < kRows * kVectorsPerRow; i += kThreads) {
    const int row = i / kVectorsPerRow;
    const int column = i % kVectorsPerRow * kWidth;
    float values[kWidth] = {};
    if (row < rows) rooflab::load_vector(matrix + row * kHeadDim + column, values);
#pragma unroll
    for (int j = 0; j < kWidth; j += kVector) {
      *reinterpret_cast<float4*>(tile + row * kStride + column + j) =
          make_float4(values[j], values[j + 1], values[j + 2], values[j + 3]) * factor;
    }
  }
}

// Where a thread stands in its block.
struct Place {
  int row = threadIdx.x / kThreadColumns;
  int column = threadIdx.x % kThreadColumns;
};

// The first and the last key that a query sees. There are none if the last comes before the first.
__device__ int last_visible(int query, const AttentionShape& shape) {
  return shape.causal ? query + shape.key_length - shape.query_length : shape.key_length - 1;
}
__device__ int first_visible(int query, const AttentionShape& shape) {
  return shape.window > 0 ? max(0, last_visible(query, shape) - shape.window + 1) : 0;
}

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
        scores[r][c] += query.x * key[c].x;
        scores[r][c] += query.y * key[c].y;
        scores[r][c] += query.z * key[c].z;
        scores[r][c] += query.w * key[c].w;
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
    // A row that has seen no key yet has the maximum -inf, and -inf - -inf is not a number.
    const float base = largest == -INFINITY ? 0.0f : largest;
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
  // Blocks start in the order of x. Under a causal mask the last queries see most: those of all
  // heads start first, so that in the end short blocks fill the gaps.
  const int tiles = gridDim.x / shape.query_heads;
  const int first_query = (tiles - 1 - blockIdx.x / shape.query_heads) * Tile::kQueries;
  const int query_count = min(Tile::kQueries, shape.query_length - first_query);
  const int head = blockIdx.x % shape.query_heads;
  const int batch = blockIdx.y;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const size_t first_row =
      (static_cast<size_t>(batch) * shape.query_heads + head) * shape.query_length + first_query;
  const size_t first_key_row =
      (static_cast<size_t>(batch) * shape.key_value_heads + key_head) * shape.key_length;

  load_tile<kHeadDim, Tile::kQueries, kHeadDim, kHeadDim>(q + first_row * kHeadDim, query_count,
                                                          shape.scale * kLog2E, queries);
  const auto load_slice = [&](const T* matrix, int first_key, int slice, float* tile) {
    const T* const from = matrix + (first_key_row + first_key) * kHeadDim + slice * Tile::kSlice;
    load_tile<kHeadDim, Tile::kKeys, Tile::kSlice, Tile::kKeyStride>(
        from, shape.key_length - first_key, 1.0f, tile);
  };

  Rows<kHeadDim> rows;
  for (float& maximum : rows.maximum) maximum = -INFINITY;
  const int begin = first_visible(first_query, shape) / Tile::kKeys * Tile::kKeys;
  const int end = last_visible(first_query + query_count - 1, shape) + 1;
  for (int key = begin; key < end; key += Tile::kKeys) {
    Scores<kHeadDim> scores = {};
#pragma unroll
    for (int slice = 0; slice < Tile::kSlices; ++slice) {
      __syncthreads();  // nobody needs what lies there any more
      load_slice(k, key, slice, keys);
      __syncthreads();  // the keys are complete
      multiply_q_k<kHeadDim>(queries + slice * Tile::kSlice, keys, place, scores);
    }
    update_rows<kHeadDim>(scores, first_query, key, shape, place, rows, weights);
#pragma unroll
    for (int slice = 0; slice < Tile::kSlices; ++slice) {
      __syncthreads();  // nobody needs the keys, or the values before, any more
      load_slice(v, key, slice, values);
      __syncthreads();  // the values and the weights are complete
      multiply_weights_v<kHeadDim>(weights, values, slice, place, rows);
    }
  }
  store_rows<T, kHeadDim>(rows, query_count, place, out + first_row * kHeadDim,
                          log_sum_exp + first_row);
}

template <int kHeadDim, typename T>
void launch(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
            const AttentionShape& shape, cudaStream_t stream) {
  using Tile = Tiles<kHeadDim>;
  const auto kernel = flash_forward_kernel<T, kHeadDim>;
  // More than 48 KiB must be asked for.
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  Tile::kSharedBytes));
  const int tiles = (shape.query_length + Tile::kQueries - 1) / Tile::kQueries;
  const dim3 grid(tiles * shape.query_heads, shape.batch);
  kernel<<<grid, kThreads, Tile::kSharedBytes, stream>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
// END SOLUTION

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("start from flash_grouped, and make type and head size template parameters");
  switch (shape.head_dim) {
    case 64:
      return launch<64>(q, k, v, out, log_sum_exp, shape, stream);
    case 128:
      return launch<128>(q, k, v, out, log_sum_exp, shape, stream);
    case 256:
      return launch<256>(q, k, v, out, log_sum_exp, shape, stream);
    default:
      throw std::invalid_argument("head_dim is " + std::to_string(shape.head_dim) +
                                  ", and must be 64, 128 or 256");
  }
  // END SOLUTION
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
