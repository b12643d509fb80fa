#include "flash_grouped.h"

#include <cmath>

#include "toolkit/check.h"

namespace {

constexpr int kDim = 64;
constexpr int kChunk = 64;  // keys at a time: thread t scores key t, then gathers element t

// A block for each query of each head of each sequence.
__global__ void one_query(const float* q, const float* k, const float* v, float* out,
                          float* log_sum_exp, AttentionShape s) {
  __shared__ float query[kDim];
  __shared__ float score[kChunk];
  const int t = threadIdx.x;
  const int i = blockIdx.x;
  const int head = blockIdx.y;
  const int sequence = blockIdx.z;
  const int group = s.query_heads / s.key_value_heads;
  const int row = (sequence * s.query_heads + head) * s.query_length + i;
  const int store = (sequence * s.key_value_heads + head / group) * s.key_length;
  query[t] = q[row * kDim + t];

  int end = s.key_length;
  int begin = 0;
  if (s.causal) {
    end = min(end, i + s.key_length - s.query_length + 1);
    if (s.window > 0) begin = max(0, end - s.window);
  }

  float top = -INFINITY;
  float sum = 0.0f;
  float mine = 0.0f;
  __syncthreads();
  for (int chunk = begin; chunk < end; chunk += kChunk) {
    const int count = min(kChunk, end - chunk);
    if (t < count) {
      const float* key = k + (store + chunk + t) * kDim;
      float dot = 0.0f;
      for (int d = 0; d < kDim; ++d) dot += query[d] * key[d];
      score[t] = dot * s.scale;
    }
    __syncthreads();
    float chunk_top = top;
    for (int j = 0; j < count; ++j) chunk_top = fmaxf(chunk_top, score[j]);
    const float fade = expf(top - chunk_top);
    sum *= fade;
    mine *= fade;
    for (int j = 0; j < count; ++j) {
      const float weight = expf(score[j] - chunk_top);
      sum += weight;
      mine += weight * v[(store + chunk + j) * kDim + t];
    }
    top = chunk_top;
    __syncthreads();
  }

  out[row * kDim + t] = end > begin ? mine / sum : 0.0f;
  if (t == 0) log_sum_exp[row] = top + logf(sum);
}

}  // namespace

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  const dim3 grid(shape.query_length, shape.query_heads, shape.batch);
  one_query<<<grid, kDim>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
