#include "flash_grouped.h"

#include "toolkit/check.h"
#include "warp.h"

// A block of 64 threads has 16 queries of one head, four threads for each of them.
// No tiles of scores: each key is a step of its own.
struct Where {
  const float *q, *k, *v;
  float *out, *lse;
};

__device__ Where head_of_block(Where all, const AttentionShape& s) {
  const int head = blockIdx.y, sequence = blockIdx.z;
  const int per_key_head = s.query_heads / s.key_value_heads;
  const int q_head = sequence * s.query_heads + head;
  const int kv_head = sequence * s.key_value_heads + head / per_key_head;
  all.q += q_head * s.query_length * 64;
  all.out += q_head * s.query_length * 64;
  all.lse += q_head * s.query_length;
  all.k += kv_head * s.key_length * 64;
  all.v += kv_head * s.key_length * 64;
  return all;
}

__global__ void grouped(Where arrays, AttentionShape s) {
  const Where my = head_of_block(arrays, s);
  __shared__ float keys[16][64];
  __shared__ float values[16][64];
  const int quarter = threadIdx.x % 4;
  const int i = blockIdx.x * 16 + threadIdx.x / 4;
  const bool exists = i < s.query_length;

  float qv[16], acc[16];
#pragma unroll
  for (int e = 0; e < 16; ++e) {
    qv[e] = exists ? my.q[i * 64 + e * 4 + quarter] : 0.0f;
    acc[e] = 0.0f;
  }
  const int newest = s.causal ? i + s.key_length - s.query_length : s.key_length - 1;
  const int oldest = s.window > 0 ? newest - s.window + 1 : 0;
  float top = -INFINITY, total = 0.0f;

  for (int start = 0; start < s.key_length; start += 16) {
    const int here = min(16, s.key_length - start);
    for (int n = threadIdx.x; n < here * 64; n += 64) {
      keys[n / 64][n % 64] = my.k[start * 64 + n];
      values[n / 64][n % 64] = my.v[start * 64 + n];
    }
    __syncthreads();
    for (int r = 0; r < here; ++r) {
      float score = 0.0f;
#pragma unroll
      for (int e = 0; e < 16; ++e) score += qv[e] * keys[r][e * 4 + quarter];
      score = warp_sum<4>(score) * s.scale;
      const int j = start + r;
      if (j > newest || j < oldest) continue;
      const float higher = fmaxf(top, score);
      const float shrink = expf(top - higher);
      const float weight = expf(score - higher);
      total = total * shrink + weight;
#pragma unroll
      for (int e = 0; e < 16; ++e) acc[e] = acc[e] * shrink + weight * values[r][e * 4 + quarter];
      top = higher;
    }
    __syncthreads();
  }
  if (!exists) return;
#pragma unroll
  for (int e = 0; e < 16; ++e) {
    my.out[i * 64 + e * 4 + quarter] = total > 0.0f ? acc[e] / total : 0.0f;
  }
  if (quarter == 0) my.lse[i] = total > 0.0f ? top + logf(total) : -INFINITY;
}

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  const dim3 grid((shape.query_length + 15) / 16, shape.query_heads, shape.batch);
  grouped<<<grid, 64>>>(Where{q, k, v, out, log_sum_exp}, shape);
  CUDA_CHECK(cudaGetLastError());
}
