#include "flash_forward.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdexcept>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

constexpr int kKeys = 32;
constexpr int kQueries = 8;  // warps

struct Seen {
  int first, last;  // keys; none when last < first
};

__device__ Seen seen_by(const AttentionShape& s, int query) {
  if (!s.causal) return {0, s.key_length - 1};
  const int last = query + s.key_length - s.query_length;
  return {s.window > 0 ? max(0, last - s.window + 1) : 0, last};
}

// A tile of rows, each turned round by its number, so that 32 rows at one place lie in 32 banks.
template <int kDim, typename T>
__device__ void load_tile(float (&tile)[kKeys][kDim], const T* rows, int count) {
  for (int i = threadIdx.x; i < kKeys * kDim; i += blockDim.x) {
    const int row = i / kDim, d = i % kDim;
    tile[row][(d + row) % kDim] = row < count ? rooflab::to_float(rows[i]) : 0.0f;
  }
}

template <int kDim, typename T>
__global__ void __launch_bounds__(32 * kQueries)
    queries(const T* q, const T* k, const T* v, T* out, float* log_sum_exp, AttentionShape s) {
  __shared__ float tile[kKeys][kDim];
  __shared__ float query_rows[kQueries][kDim];
  constexpr int kEach = kDim / 32;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int query = blockIdx.x * kQueries + warp;
  const bool is_there = query < s.query_length;
  const int head = blockIdx.y, kv_head = head / (s.query_heads / s.key_value_heads);
  const long row = (static_cast<long>(blockIdx.z) * s.query_heads + head) * s.query_length + query;
  const long keys =
      (static_cast<long>(blockIdx.z) * s.key_value_heads + kv_head) * s.key_length * kDim;
  for (int d = lane; d < kDim; d += 32) {
    query_rows[warp][d] = is_there ? rooflab::to_float(q[row * kDim + d]) * s.scale : 0.0f;
  }
  __syncwarp();

  const Seen mine = is_there ? seen_by(s, query) : Seen{0, -1};
  const int begin = seen_by(s, blockIdx.x * kQueries).first;
  const int end =
      seen_by(s, min(s.query_length, (static_cast<int>(blockIdx.x) + 1) * kQueries) - 1).last + 1;
  float largest = -INFINITY, sum = 0, result[kEach] = {};
  for (int k0 = begin; k0 < end; k0 += kKeys) {
    const int count = min(kKeys, s.key_length - k0);
    __syncthreads();  // the values of the tile before are read
    load_tile<kDim>(tile, k + keys + static_cast<long>(k0) * kDim, count);
    __syncthreads();
    const int key = k0 + lane;
    float score = -INFINITY;
    if (mine.first <= key && key <= mine.last) {
      score = 0;
#pragma unroll 8
      for (int d = 0; d < kDim; ++d) score += query_rows[warp][d] * tile[lane][(d + lane) % kDim];
    }
    __syncthreads();
    load_tile<kDim>(tile, v + keys + static_cast<long>(k0) * kDim, count);
    float next = score;
    for (int step = 16; step > 0; step /= 2) next = fmaxf(next, __shfl_xor_sync(~0u, next, step));
    next = fmaxf(next, largest);
    __syncthreads();
    if (next == -INFINITY) continue;  // no key for this warp yet
    const float shrink = expf(largest - next), weight = expf(score - next);
    largest = next;
    sum *= shrink;
    for (float& r : result) r *= shrink;
    for (int j = 0; j < count; ++j) {
      const float w = __shfl_sync(~0u, weight, j);
      sum += w;
#pragma unroll
      for (int i = 0; i < kEach; ++i) result[i] += w * tile[j][(lane + 32 * i + j) % kDim];
    }
  }
  if (!is_there) return;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const float value = sum > 0 ? result[i] / sum : 0.0f;
    out[row * kDim + lane + 32 * i] = rooflab::from_float<T>(value);
  }
  if (lane == 0) log_sum_exp[row] = sum > 0 ? largest + logf(sum) : -INFINITY;
}

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid((shape.query_length + kQueries - 1) / kQueries, shape.query_heads, shape.batch);
  switch (shape.head_dim) {
    case 64:
      queries<64><<<grid, 32 * kQueries, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
      break;
    case 128:
      queries<128><<<grid, 32 * kQueries, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
      break;
    case 256:
      queries<256><<<grid, 32 * kQueries, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
      break;
    default:
      throw std::invalid_argument("head_dim must be 64, 128 or 256");
  }
  CUDA_CHECK(cudaGetLastError());
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
