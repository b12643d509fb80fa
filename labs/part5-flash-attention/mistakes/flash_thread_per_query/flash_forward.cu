#include "flash_forward.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kThreads = 64;

// A thread computes one query of one head, straight from global memory.
template <typename T, int kHeadDim>
__global__ void flash_forward_kernel(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                                     AttentionShape shape) {
  const int query = blockIdx.x * kThreads + threadIdx.x;
  if (query >= shape.query_length) return;
  const int key_head = blockIdx.y / (shape.query_heads / shape.key_value_heads);
  const size_t row =
      (static_cast<size_t>(blockIdx.z) * shape.query_heads + blockIdx.y) * shape.query_length +
      query;
  const size_t keys =
      (static_cast<size_t>(blockIdx.z) * shape.key_value_heads + key_head) * shape.key_length;
  int first = 0;
  int last = shape.key_length - 1;
  if (shape.causal) last = query + shape.key_length - shape.query_length;
  if (shape.causal && shape.window > 0) first = max(0, last - shape.window + 1);

  float maximum = -INFINITY;
  float sum = 0.0f;
  float own[kHeadDim];
  float values[kHeadDim] = {};
#pragma unroll
  for (int d = 0; d < kHeadDim; ++d) {
    own[d] = rooflab::to_float(q[row * kHeadDim + d]) * shape.scale;
  }
  for (int j = first; j <= last; ++j) {
    const T* key = k + (keys + j) * kHeadDim;
    const T* value = v + (keys + j) * kHeadDim;
    float score = 0.0f;
#pragma unroll
    for (int d = 0; d < kHeadDim; ++d) score += own[d] * rooflab::to_float(key[d]);
    const float larger = fmaxf(maximum, score);
    const float rescale = expf(maximum - larger);
    const float weight = expf(score - larger);
    maximum = larger;
    sum = sum * rescale + weight;
#pragma unroll
    for (int d = 0; d < kHeadDim; ++d) {
      values[d] = values[d] * rescale + weight * rooflab::to_float(value[d]);
    }
  }
#pragma unroll
  for (int d = 0; d < kHeadDim; ++d) {
    out[row * kHeadDim + d] = rooflab::from_float<T>(sum > 0.0f ? values[d] / sum : 0.0f);
  }
  log_sum_exp[row] = maximum + logf(sum);
}

}  // namespace

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid((shape.query_length + kThreads - 1) / kThreads, shape.query_heads, shape.batch);
  const auto launch = [&](auto kernel) {
    kernel<<<grid, kThreads, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
    CUDA_CHECK(cudaGetLastError());
  };
  if (shape.head_dim == 64) launch(flash_forward_kernel<T, 64>);
  if (shape.head_dim == 128) launch(flash_forward_kernel<T, 128>);
  if (shape.head_dim == 256) launch(flash_forward_kernel<T, 256>);
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
