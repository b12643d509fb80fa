#include "flash_online.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kDim = 64;
constexpr int kTile = 32;     // keys
constexpr int kQueries = 16;  // of a block
constexpr int kTeam = 4;      // lanes that share a query
constexpr int kShare = kDim / kTeam;

// Lane `part` of a team has the dimensions part, part + 4, part + 8, ...
__global__ void teams(const float* q, const float* k, const float* v, float* out,
                      float* log_sum_exp, int key_length, float scale) {
  __shared__ float keys[kTile][kDim];
  __shared__ float values[kTile][kDim];
  const int part = threadIdx.x % kTeam;
  const int query = blockIdx.x * kQueries + threadIdx.x / kTeam;
  float mine[kShare], sum[kShare];
  for (int d = 0; d < kShare; ++d) {
    mine[d] = q[query * kDim + part + d * kTeam] * scale;
    sum[d] = 0.0f;
  }
  float largest = -INFINITY, total = 0.0f;

  for (int begin = 0; begin < key_length; begin += kTile) {
    __syncthreads();
    for (int e = threadIdx.x; e < kTile * kDim; e += kQueries * kTeam) {
      (&keys[0][0])[e] = k[begin * kDim + e];
      (&values[0][0])[e] = v[begin * kDim + e];
    }
    __syncthreads();
    for (int j = 0; j < kTile; ++j) {
      float dot = 0.0f;
      for (int d = 0; d < kShare; ++d) dot += mine[d] * keys[j][part + d * kTeam];
      const float score = warp_sum<kTeam>(dot);
      const float before = largest;
      largest = fmaxf(before, score);
      const float shrink = expf(before - largest);
      const float weight = expf(score - largest);
      total = total * shrink + weight;
      for (int d = 0; d < kShare; ++d) {
        sum[d] = sum[d] * shrink + weight * values[j][part + d * kTeam];
      }
    }
  }

  for (int d = 0; d < kShare; ++d) out[query * kDim + part + d * kTeam] = sum[d] / total;
  if (part == 0) log_sum_exp[query] = logf(total) + largest;
}

}  // namespace

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  teams<<<shape.query_length / kQueries, kQueries * kTeam>>>(q, k, v, out, log_sum_exp,
                                                             shape.key_length, shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
