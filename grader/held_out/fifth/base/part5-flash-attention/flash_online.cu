#include "flash_online.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kDim = 64;
constexpr int kCrew = 4;               // neighbouring lanes that share a query
constexpr int kOwn = kDim / kCrew;     // elements of it that each of them has: crew, crew + 4, ...
constexpr int kQueries = 32;           // of a block
constexpr int kTile = 16;              // keys at a time
constexpr int kThreads = kQueries * kCrew;

__global__ void walk(const float* q, const float* k, const float* v, float* out,
                     float* log_sum_exp, int key_length, float scale) {
  __shared__ float key[kTile * kDim], value[kTile * kDim];
  const int crew = threadIdx.x % kCrew;
  const int i = blockIdx.x * kQueries + threadIdx.x / kCrew;

  float mine[kOwn], sum[kOwn];
  for (int e = 0; e < kOwn; ++e) {
    mine[e] = q[i * kDim + e * kCrew + crew];
    sum[e] = 0.0f;
  }
  float largest = -INFINITY, total = 0.0f;

  for (int j0 = 0; j0 < key_length; j0 += kTile) {
    for (int e = threadIdx.x; e < kTile * kDim; e += kThreads) {
      key[e] = k[j0 * kDim + e];
      value[e] = v[j0 * kDim + e];
    }
    __syncthreads();

    float score[kTile];
    float most = largest;
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      float dot = 0.0f;
      for (int e = 0; e < kOwn; ++e) dot += mine[e] * key[j * kDim + e * kCrew + crew];
      score[j] = scale * warp_sum<kCrew>(dot);
      most = fmaxf(most, score[j]);
    }

    const float shrink = expf(largest - most);
    largest = most;
    total *= shrink;
    for (int e = 0; e < kOwn; ++e) sum[e] *= shrink;
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      const float weight = expf(score[j] - largest);
      total += weight;
      for (int e = 0; e < kOwn; ++e) sum[e] += weight * value[j * kDim + e * kCrew + crew];
    }
    __syncthreads();
  }

  for (int e = 0; e < kOwn; ++e) out[i * kDim + e * kCrew + crew] = sum[e] / total;
  if (crew == 0) log_sum_exp[i] = largest + logf(total);
}

}  // namespace

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  walk<<<shape.query_length / kQueries, kThreads>>>(q, k, v, out, log_sum_exp, shape.key_length,
                                                    shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
