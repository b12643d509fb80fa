#include "flash_tensor_cores.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kFragment = 16;                  // a tensor core multiplies 16 x 16 by 16 x 16
constexpr int kVector = 8;                     // 16-bit values in one 16-byte load
constexpr float kLog2E = 1.4426950408889634f;  // log2(e)

// Older tensor cores know only half.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <typename T>
constexpr bool kHasTensorCores = std::is_same_v<T, __half>;
#else
template <typename T>
constexpr bool kHasTensorCores = true;
#endif

template <typename T, typename Layout>
using FragmentA = wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, T, Layout>;
template <typename T, typename Layout>
using FragmentB = wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, T, Layout>;
using Sums = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

// Tile sizes, such that the tiles fit into 64 KiB, which every GPU has.
template <int kHeadDim>
struct Tiles {
  // A warp has kRowFragments x 16 queries: what it loads of keys and values serves all of them.
  static constexpr int kRowFragments = kHeadDim == 256 ? 1 : 2;
  static constexpr int kWarpRows = kRowFragments * kFragment;
  static constexpr int kQueries = kWarps * kWarpRows;
  static constexpr int kKeys = kHeadDim == 64 ? 64 : 32;
  static constexpr int kKeyFragments = kKeys / kFragment;
  static constexpr int kDepthFragments = kHeadDim / kFragment;

  // In the softmax, kRowLanes lanes share a row, and each has kLaneKeys of its scores.
  static constexpr int kRowLanes = kWarpSize / kWarpRows;
  static constexpr int kLaneKeys = kKeys / kRowLanes;

  // Rows in shared memory are padded by 16 bytes, to spread neighbouring rows over the banks. A
  // row of weights, 16 bits each, lies where the row of scores was.
  static constexpr int kStride = kHeadDim + kVector;
  static constexpr int kScoreStride = kKeys + 4;
  static constexpr int kWeightStride = 2 * kScoreStride;

  static constexpr int kQueryBytes = kQueries * kStride * 2;
  static constexpr int kKeyBytes = kKeys * kStride * 2;  // of keys or of values
  static constexpr int kScoreBytes = kQueries * kScoreStride * static_cast<int>(sizeof(float));
  static constexpr int kFactorBytes = kQueries * static_cast<int>(sizeof(float));
  static constexpr int kSharedBytes = kQueryBytes + kKeyBytes + kScoreBytes + kFactorBytes;
};

// All threads copy `rows` rows of a matrix to `tile`; what is left of the tile's kRows rows becomes
// zero.
template <int kHeadDim, int kRows, typename T>
__device__ void load_tile(const T* matrix, int rows, T* tile) {
  constexpr int kVectorsPerRow = kHeadDim / kVector;
  for (int i = threadIdx.x; i < kRows * kVectorsPerRow; i += kThreads) {
    const int row = i / kVectorsPerRow;
    const int column = i % kVectorsPerRow * kVector;
    uint4 vector = {};
    if (row < rows) vector = *reinterpret_cast<const uint4*>(matrix + row * kHeadDim + column);
    *reinterpret_cast<uint4*>(tile + row * Tiles<kHeadDim>::kStride + column) = vector;
  }
}

// The keys that a query sees, from first to last; none when first > last.
struct KeyRange {
  int first;
  int last;
};

__device__ KeyRange visible_keys(int query, const AttentionShape& shape) {
  if (!shape.causal) return {0, shape.key_length - 1};
  const int last = query + shape.key_length - shape.query_length;
  return {shape.window > 0 ? max(0, last - shape.window + 1) : 0, last};
}

// scores = queries keys^T for the rows of one warp. A row of keys is a column of keys^T.
template <int kHeadDim, typename T>
__device__ void multiply_q_k(const T* queries, const T* keys, float* scores) {
  using Tile = Tiles<kHeadDim>;
  Sums sums[Tile::kRowFragments][Tile::kKeyFragments];
#pragma unroll
  for (int r = 0; r < Tile::kRowFragments; ++r) {
#pragma unroll
    for (int c = 0; c < Tile::kKeyFragments; ++c) wmma::fill_fragment(sums[r][c], 0.0f);
  }
#pragma unroll
  for (int d = 0; d < kHeadDim; d += kFragment) {
    FragmentA<T, wmma::row_major> query[Tile::kRowFragments];
#pragma unroll
    for (int r = 0; r < Tile::kRowFragments; ++r) {
      wmma::load_matrix_sync(query[r], queries + r * kFragment * Tile::kStride + d, Tile::kStride);
    }
#pragma unroll
    for (int c = 0; c < Tile::kKeyFragments; ++c) {
      FragmentB<T, wmma::col_major> key;
      wmma::load_matrix_sync(key, keys + c * kFragment * Tile::kStride + d, Tile::kStride);
#pragma unroll
      for (int r = 0; r < Tile::kRowFragments; ++r) {
        wmma::mma_sync(sums[r][c], query[r], key, sums[r][c]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < Tile::kRowFragments; ++r) {
#pragma unroll
    for (int c = 0; c < Tile::kKeyFragments; ++c) {
      wmma::store_matrix_sync(scores + r * kFragment * Tile::kScoreStride + c * kFragment,
                              sums[r][c], Tile::kScoreStride, wmma::mem_row_major);
    }
  }
}

// What a lane knows of its row after the tiles so far. Lanes that share a row have the same
// maximum, and each its own part of the sum.
struct RowState {
  float maximum = -INFINITY;
  float sum = 0.0f;
};

template <int kRowLanes>
__device__ float row_max(float value) {
  if constexpr (kRowLanes == 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, kWarpSize / 2));
  }
  return value;
}

template <int kRowLanes>
__device__ float row_sum(float value) {
  if constexpr (kRowLanes == 2) value += __shfl_xor_sync(kAllLanes, value, kWarpSize / 2);
  return value;
}

// Takes this lane's scores, of the keys first_key ... first_key + kLaneKeys - 1, into its row, and
// replaces them by weights. Returns what the row's sums so far must be multiplied by.
template <int kHeadDim, typename T>
__device__ float update_row(float* scores, T* weights, const KeyRange& visible, int first_key,
                            int key_length, float scale, RowState& row) {
  using Tile = Tiles<kHeadDim>;
  float values[Tile::kLaneKeys];
  float largest = row.maximum;
#pragma unroll
  for (int j = 0; j < Tile::kLaneKeys; j += 4) {
    const float4 four = *reinterpret_cast<const float4*>(scores + j);
    values[j] = four.x;
    values[j + 1] = four.y;
    values[j + 2] = four.z;
    values[j + 3] = four.w;
  }
#pragma unroll
  for (int j = 0; j < Tile::kLaneKeys; ++j) {
    const int key = first_key + j;
    const bool is_visible = visible.first <= key && key <= visible.last && key < key_length;
    values[j] = is_visible ? values[j] * scale : -INFINITY;
    largest = fmaxf(largest, values[j]);
  }
  largest = row_max<Tile::kRowLanes>(largest);
  // A row that has seen no key yet has the maximum -inf, and -inf - -inf is not a number.
  const float base = largest == -INFINITY ? 0.0f : largest;
  const float rescale = exp2f(row.maximum - base);
  row.maximum = largest;
  row.sum *= rescale;
  __syncwarp();  // weights take the place of scores that the other lane of the row has read
#pragma unroll
  for (int j = 0; j < Tile::kLaneKeys; j += kVector) {
    float eight[kVector];
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
      eight[e] = exp2f(values[j + e] - base);
      row.sum += eight[e];
    }
    rooflab::store_vector(weights + j, eight);
  }
  return rescale;
}

// The row of each element of a fragment of sums that this lane has.
struct ElementRows {
  int row[Sums::num_elements];
};

// Which elements of a fragment a lane has is not specified: a matrix whose elements are the numbers
// of their rows tells, when it is loaded as sums are.
__device__ ElementRows find_element_rows(float* staging) {
  for (int i = threadIdx.x % kWarpSize; i < kFragment * kFragment; i += kWarpSize) {
    staging[i] = static_cast<float>(i / kFragment);
  }
  __syncwarp();
  Sums numbers;
  wmma::load_matrix_sync(numbers, staging, kFragment, wmma::mem_row_major);
  ElementRows elements;
#pragma unroll
  for (int e = 0; e < Sums::num_elements; ++e) elements.row[e] = static_cast<int>(numbers.x[e]);
  __syncwarp();  // the staging memory may be used again
  return elements;
}

// Multiplies each row of the sums by its factor.
template <int kHeadDim>
__device__ void scale_rows(const float* factors, const ElementRows& elements,
                           Sums (&sums)[Tiles<kHeadDim>::kDepthFragments]) {
#pragma unroll
  for (int e = 0; e < Sums::num_elements; ++e) {
    const float factor = factors[elements.row[e]];
#pragma unroll
    for (Sums& sum : sums) sum.x[e] *= factor;
  }
}

// sums += weights values for the rows of one warp.
template <int kHeadDim, typename T>
__device__ void multiply_weights_v(
    const T* weights, const T* values,
    Sums (&sums)[Tiles<kHeadDim>::kRowFragments][Tiles<kHeadDim>::kDepthFragments]) {
  using Tile = Tiles<kHeadDim>;
#pragma unroll
  for (int j = 0; j < Tile::kKeys; j += kFragment) {
    FragmentA<T, wmma::row_major> weight[Tile::kRowFragments];
#pragma unroll
    for (int r = 0; r < Tile::kRowFragments; ++r) {
      wmma::load_matrix_sync(weight[r], weights + r * kFragment * Tile::kWeightStride + j,
                             Tile::kWeightStride);
    }
#pragma unroll
    for (int c = 0; c < Tile::kDepthFragments; ++c) {
      FragmentB<T, wmma::row_major> value;
      wmma::load_matrix_sync(value, values + j * Tile::kStride + c * kFragment, Tile::kStride);
#pragma unroll
      for (int r = 0; r < Tile::kRowFragments; ++r) {
        wmma::mma_sync(sums[r][c], weight[r], value, sums[r][c]);
      }
    }
  }
}

// Stores 16 rows of out, of which row_count exist, by way of the warp's shared memory.
template <int kHeadDim, typename T>
__device__ void store_rows(const Sums (&sums)[Tiles<kHeadDim>::kDepthFragments], int row_count,
                           float* staging, T* out) {
  const int row = threadIdx.x % kWarpSize / 2;
  const int column = threadIdx.x % 2 * kVector;
#pragma unroll
  for (int c = 0; c < Tiles<kHeadDim>::kDepthFragments; ++c) {
    wmma::store_matrix_sync(staging, sums[c], kFragment, wmma::mem_row_major);
    __syncwarp();
    float eight[kVector];
#pragma unroll
    for (int e = 0; e < kVector; ++e) eight[e] = staging[row * kFragment + column + e];
    if (row < row_count) {
      rooflab::store_vector(out + row * kHeadDim + c * kFragment + column, eight);
    }
    __syncwarp();
  }
}

// A block computes Tiles::kQueries queries of one head, over the tiles of keys that any of them
// sees. Each warp has rows of its own; all share the tiles of keys and values.
template <typename T, int kHeadDim>
__device__ void attend(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                       const AttentionShape& shape) {
  using Tile = Tiles<kHeadDim>;
  extern __shared__ __align__(32) unsigned char shared[];
  T* const queries = reinterpret_cast<T*>(shared);
  T* const keys = reinterpret_cast<T*>(shared + Tile::kQueryBytes);
  T* const values = keys;  // take the place of the keys, once the scores are there
  float* const all_scores = reinterpret_cast<float*>(shared + Tile::kQueryBytes + Tile::kKeyBytes);
  float* const all_factors = all_scores + Tile::kQueries * Tile::kScoreStride;

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
  load_tile<kHeadDim, Tile::kQueries>(q + first_row * kHeadDim, query_count, queries);

  // The warp's rows, and the lane's row and columns in the softmax.
  const int lane = threadIdx.x % kWarpSize;
  const int warp_row = threadIdx.x / kWarpSize * Tile::kWarpRows;
  const int lane_row = lane % Tile::kWarpRows;
  const int lane_key = lane / Tile::kWarpRows * Tile::kLaneKeys;
  float* const scores = all_scores + warp_row * Tile::kScoreStride;
  float* const lane_scores = scores + lane_row * Tile::kScoreStride + lane_key;
  T* const weights = reinterpret_cast<T*>(scores);
  T* const lane_weights = weights + lane_row * Tile::kWeightStride + lane_key;
  float* const factors = all_factors + warp_row;
  const KeyRange visible = visible_keys(first_query + warp_row + lane_row, shape);
  const ElementRows elements = find_element_rows(scores);

  RowState row;
  Sums sums[Tile::kRowFragments][Tile::kDepthFragments];
#pragma unroll
  for (int r = 0; r < Tile::kRowFragments; ++r) {
#pragma unroll
    for (int c = 0; c < Tile::kDepthFragments; ++c) wmma::fill_fragment(sums[r][c], 0.0f);
  }

  const int first = visible_keys(first_query, shape).first;
  const int last = visible_keys(first_query + query_count - 1, shape).last;
  for (int key = first / Tile::kKeys * Tile::kKeys; key <= last; key += Tile::kKeys) {
    const size_t from = (first_key_row + key) * kHeadDim;
    __syncthreads();  // nobody needs the values of the tile before any more
    load_tile<kHeadDim, Tile::kKeys>(k + from, shape.key_length - key, keys);
    __syncthreads();  // the keys are complete
    multiply_q_k<kHeadDim>(queries + warp_row * Tile::kStride, keys, scores);
    __syncthreads();  // the scores are complete, and nobody needs the keys any more
    load_tile<kHeadDim, Tile::kKeys>(v + from, shape.key_length - key, values);
    const float rescale = update_row<kHeadDim>(lane_scores, lane_weights, visible, key + lane_key,
                                               shape.key_length, shape.scale * kLog2E, row);
    if (lane < Tile::kWarpRows) factors[lane] = rescale;
    __syncthreads();  // the values, the weights and the factors are complete
#pragma unroll
    for (int r = 0; r < Tile::kRowFragments; ++r) {
      scale_rows<kHeadDim>(factors + r * kFragment, elements, sums[r]);
    }
    multiply_weights_v<kHeadDim>(weights, values, sums);
  }

  const float sum = row_sum<Tile::kRowLanes>(row.sum);
  __syncwarp();  // the last factors were read
  if (lane < Tile::kWarpRows) {
    factors[lane] = sum > 0.0f ? 1.0f / sum : 0.0f;  // a row without keys is 0
    if (warp_row + lane < query_count) {
      log_sum_exp[first_row + warp_row + lane] = row.maximum / kLog2E + logf(sum);
    }
  }
  __syncwarp();  // the factors are complete, and nobody needs the weights any more
#pragma unroll
  for (int r = 0; r < Tile::kRowFragments; ++r) {
    scale_rows<kHeadDim>(factors + r * kFragment, elements, sums[r]);
    const int from_row = warp_row + r * kFragment;
    if (from_row >= query_count) break;  // the same for the whole warp
    store_rows<kHeadDim>(sums[r], query_count - from_row, scores,
                         out + (first_row + from_row) * kHeadDim);
  }
}

template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads)
    flash_tensor_cores_kernel(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                              AttentionShape shape) {
  if constexpr (kHasTensorCores<T>) attend<T, kHeadDim>(q, k, v, out, log_sum_exp, shape);
}

template <int kHeadDim, typename T>
void launch(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
            const AttentionShape& shape, cudaStream_t stream) {
  using Tile = Tiles<kHeadDim>;
  const auto kernel = flash_tensor_cores_kernel<T, kHeadDim>;
  // More than 48 KiB must be asked for.
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  Tile::kSharedBytes));
  const int tiles = (shape.query_length + Tile::kQueries - 1) / Tile::kQueries;
  const dim3 grid(tiles * shape.query_heads, shape.batch);
  kernel<<<grid, kThreads, Tile::kSharedBytes, stream>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

template <typename T>
void flash_tensor_cores(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                        const AttentionShape& shape, cudaStream_t stream) {
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
}

template void flash_tensor_cores(const __half*, const __half*, const __half*, __half*, float*,
                                 const AttentionShape&, cudaStream_t);
template void flash_tensor_cores(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                                 __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
