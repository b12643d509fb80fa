#include "flash_grouped.h"

#include "toolkit/check.h"

namespace {

constexpr int kWidth = 64;
constexpr int kRows = 64;  // queries of a block, a thread for each
constexpr int kKeys = 16;

// Where the matrices of one head begin.
struct Head {
  const float *q, *k, *v;
  float *out, *log_sum_exp;
};

__device__ Head find(const float* q, const float* k, const float* v, float* out, float* lse,
                     const AttentionShape& s) {
  const int head = blockIdx.y, sequence = blockIdx.z;
  const int group = s.query_heads / s.key_value_heads;
  const int row = sequence * s.query_heads + head;
  const int shared = sequence * s.key_value_heads + head / group;
  return {q + row * s.query_length * kWidth, k + shared * s.key_length * kWidth,
          v + shared * s.key_length * kWidth, out + row * s.query_length * kWidth,
          lse + row * s.query_length};
}

__global__ void grouped(const float* q, const float* k, const float* v, float* out, float* lse,
                        AttentionShape s) {
  __shared__ float4 key_tile[kKeys][kWidth / 4], value_tile[kKeys][kWidth / 4];
  const Head head = find(q, k, v, out, lse, s);
  const int query = blockIdx.x * kRows + threadIdx.x;
  const bool exists = query < s.query_length;

  float4 mine[kWidth / 4], sum[kWidth / 4] = {};
  const float4* from = reinterpret_cast<const float4*>(head.q) + query * (kWidth / 4);
  for (int d = 0; d < kWidth / 4; ++d) {
    mine[d] = exists ? from[d] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }

  int oldest = 0, newest = s.key_length - 1;
  if (s.causal) {
    newest = query + s.key_length - s.query_length;
    if (s.window > 0) oldest = newest - (s.window - 1);
  }
  float peak = -INFINITY, mass = 0.0f;
  for (int tile = 0; tile < s.key_length; tile += kKeys) {
    for (int t = threadIdx.x; t < kKeys * (kWidth / 4); t += kRows) {
      const int row = t / (kWidth / 4), d = t % (kWidth / 4);
      const bool there = tile + row < s.key_length;
      const int at = (tile + row) * (kWidth / 4) + d;
      const float4 none = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      key_tile[row][d] = there ? reinterpret_cast<const float4*>(head.k)[at] : none;
      value_tile[row][d] = there ? reinterpret_cast<const float4*>(head.v)[at] : none;
    }
    __syncthreads();
    for (int j = 0; j < kKeys; ++j) {
      const int key = tile + j;
      if (key < oldest || key > newest || key >= s.key_length) continue;
      float score = 0.0f;
      for (int d = 0; d < kWidth / 4; ++d) {
        const float4 a = mine[d], b = key_tile[j][d];
        score += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
      }
      score *= s.scale;
      const float higher = fmaxf(peak, score);
      const float keep = expf(peak - higher);
      const float weight = expf(score - higher);
      peak = higher;
      mass = mass * keep + weight;
      for (int d = 0; d < kWidth / 4; ++d) {
        const float4 value = value_tile[j][d];
        sum[d].x = sum[d].x * keep + weight * value.x;
        sum[d].y = sum[d].y * keep + weight * value.y;
        sum[d].z = sum[d].z * keep + weight * value.z;
        sum[d].w = sum[d].w * keep + weight * value.w;
      }
    }
    __syncthreads();
  }
  if (!exists) return;
  float4* to = reinterpret_cast<float4*>(head.out) + query * (kWidth / 4);
  const float inverse = mass == 0.0f ? 0.0f : 1.0f / mass;
  for (int d = 0; d < kWidth / 4; ++d) {
    to[d] =
        make_float4(sum[d].x * inverse, sum[d].y * inverse, sum[d].z * inverse, sum[d].w * inverse);
  }
  head.log_sum_exp[query] = peak + logf(mass);
}

}  // namespace

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  const dim3 grid((shape.query_length + kRows - 1) / kRows, shape.query_heads, shape.batch);
  grouped<<<grid, kRows>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
