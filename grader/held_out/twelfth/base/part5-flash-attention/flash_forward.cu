#include "flash_forward.h"

#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

constexpr int kWarps = 8;  // of a block, each with a query
constexpr int kTile = 16;  // keys

template <typename T, int kDim>
__global__ void walk(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                     AttentionShape shape) {
  constexpr int kOwn = kDim / 32;  // dimensions of a lane
  __shared__ T keys[kTile][kDim];
  __shared__ T values[kTile][kDim];
  const int lane = threadIdx.x;
  const int query = blockIdx.x * kWarps + threadIdx.y;
  const int head = blockIdx.y;
  const std::int64_t sequence = blockIdx.z;
  const std::int64_t key_head =
      sequence * shape.key_value_heads + head / (shape.query_heads / shape.key_value_heads);
  k += key_head * shape.key_length * kDim;
  v += key_head * shape.key_length * kDim;
  const std::int64_t row = (sequence * shape.query_heads + head) * shape.query_length + query;
  const bool exists = query < shape.query_length;

  float mine[kOwn] = {}, sum[kOwn] = {};
  if (exists) {
    for (int i = 0; i < kOwn; ++i) mine[i] = rooflab::to_float(q[row * kDim + lane + 32 * i]);
  }
  const int newest =
      shape.causal ? query + shape.key_length - shape.query_length : shape.key_length - 1;
  const int oldest = shape.window > 0 ? newest - shape.window + 1 : 0;
  float largest = -INFINITY, total = 0.0f;

  for (int from = 0; from < shape.key_length; from += kTile) {
    const int here = min(kTile, shape.key_length - from);
    __syncthreads();
    for (int e = threadIdx.y * 32 + lane; e < here * kDim; e += 32 * kWarps) {
      keys[e / kDim][e % kDim] = k[std::int64_t{from} * kDim + e];
      values[e / kDim][e % kDim] = v[std::int64_t{from} * kDim + e];
    }
    __syncthreads();
    for (int j = 0; j < here; ++j) {
      if (!exists || from + j > newest || from + j < oldest) continue;
      float score = 0.0f;
      for (int i = 0; i < kOwn; ++i) score += mine[i] * rooflab::to_float(keys[j][lane + 32 * i]);
      score = warp_sum(score) * shape.scale;
      const float top = fmaxf(largest, score);
      const float shrink = expf(largest - top), weight = expf(score - top);
      largest = top;
      total = fmaf(total, shrink, weight);
      for (int i = 0; i < kOwn; ++i) {
        sum[i] = fmaf(sum[i], shrink, weight * rooflab::to_float(values[j][lane + 32 * i]));
      }
    }
  }

  if (!exists) return;
  for (int i = 0; i < kOwn; ++i) {
    const float result = total == 0.0f ? 0.0f : sum[i] / total;
    out[row * kDim + lane + 32 * i] = rooflab::from_float<T>(result);
  }
  if (lane == 0) log_sum_exp[row] = largest + logf(total);
}

}  // namespace

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid((shape.query_length + kWarps - 1) / kWarps, shape.query_heads, shape.batch);
  const dim3 block(32, kWarps);
  const auto kernel = shape.head_dim == 64    ? walk<T, 64>
                      : shape.head_dim == 128 ? walk<T, 128>
                                              : walk<T, 256>;
  kernel<<<grid, block, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
