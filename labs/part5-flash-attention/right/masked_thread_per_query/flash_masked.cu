#include "flash_masked.h"

#include "toolkit/check.h"

__global__ void attend(const float* q, const float* k, const float* v, float* out, float* lse,
                       AttentionShape s) {
  __shared__ float sk[16][64], sv[16][64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const int head = blockIdx.y % s.query_heads, batch = blockIdx.y / s.query_heads;
  const int group = s.query_heads / s.key_value_heads;
  const int row = blockIdx.y * s.query_length + i;
  const int first_row = (batch * s.key_value_heads + head / group) * s.key_length;
  const bool is_query = i < s.query_length;
  const int last = s.causal ? i + s.key_length - s.query_length : s.key_length - 1;
  const int first = s.window ? last - s.window + 1 : 0;
  float acc[64] = {}, mine[64], largest = -INFINITY, sum = 0;
  for (int d = 0; d < 64; ++d) mine[d] = is_query ? q[row * 64 + d] * s.scale : 0;
  for (int t = 0; t < s.key_length; t += 16) {
    for (int e = threadIdx.x; e < 16 * 64 && t + e / 64 < s.key_length; e += 64) {
      sk[e / 64][e % 64] = k[(first_row + t) * 64 + e];
      sv[e / 64][e % 64] = v[(first_row + t) * 64 + e];
    }
    __syncthreads();
    for (int j = max(first, t); j <= min(last, t + 15) && j < s.key_length && is_query; ++j) {
      float score = 0;
      for (int d = 0; d < 64; ++d) score += mine[d] * sk[j - t][d];
      if (score > largest) {
        const float shrink = expf(largest - score);
        for (int d = 0; d < 64; ++d) acc[d] *= shrink;
        sum *= shrink;
        largest = score;
      }
      const float w = expf(score - largest);
      sum += w;
      for (int d = 0; d < 64; ++d) acc[d] += w * sv[j - t][d];
    }
    __syncthreads();
  }
  if (!is_query) return;
  for (int d = 0; d < 64; ++d) out[row * 64 + d] = sum == 0 ? 0 : acc[d] / sum;
  lse[row] = largest + logf(sum);
}

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  const dim3 grid((shape.query_length + 63) / 64, shape.query_heads * shape.batch);
  attend<<<grid, 64>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
