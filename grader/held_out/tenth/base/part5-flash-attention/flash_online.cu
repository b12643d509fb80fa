#include "flash_online.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int Q = 16;  // queries of a block
constexpr int P = 8;   // lanes that share a query: each has 8 elements of the head
constexpr int E = 64 / P;
constexpr int R = 32;  // keys of a tile

__global__ void online(const float* q, const float* k, const float* v, float* out, float* lse,
                       int keys, float scale) {
  __shared__ float kt[R][64];
  __shared__ float vt[R][64];
  const int t = threadIdx.x;
  const int part = t % P;
  const int query = blockIdx.x * Q + t / P;

  float mine[E], o[E];
  for (int e = 0; e < E; ++e) {
    mine[e] = q[query * 64 + part + P * e] * scale;
    o[e] = 0.f;
  }
  float m = -INFINITY;
  float l = 0.f;

  for (int tile = 0; tile < keys; tile += R) {
    for (int x = t; x < R * 64; x += Q * P) {
      kt[x / 64][x % 64] = k[tile * 64 + x];
      vt[x / 64][x % 64] = v[tile * 64 + x];
    }
    __syncthreads();
    for (int j = 0; j < R; ++j) {
      float s = 0.f;
      for (int e = 0; e < E; ++e) s += mine[e] * kt[j][part + P * e];
      s = warp_sum<P>(s);
      const float bigger = fmaxf(m, s);
      const float keep = expf(m - bigger);
      const float w = expf(s - bigger);
      l = l * keep + w;
      for (int e = 0; e < E; ++e) o[e] = o[e] * keep + w * vt[j][part + P * e];
      m = bigger;
    }
    __syncthreads();
  }
  for (int e = 0; e < E; ++e) out[query * 64 + part + P * e] = o[e] / l;
  if (part == 0) lse[query] = m + logf(l);
}

}  // namespace

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  online<<<shape.query_length / Q, Q * P>>>(q, k, v, out, log_sum_exp, shape.key_length, shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
