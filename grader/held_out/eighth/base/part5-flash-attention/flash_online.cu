#include "flash_online.h"

#include <cmath>

#include "toolkit/check.h"

namespace {

constexpr int kDim = 64;
constexpr int kTile = 16;     // keys of a tile
constexpr int kQueries = 32;  // of a block: a thread for each

__global__ void walk_over_keys(const float* q, const float* k, const float* v, float* out,
                               float* log_sum_exp, int key_length, float scale) {
  __shared__ float keys[kTile][kDim];
  __shared__ float values[kTile][kDim];
  const int i = blockIdx.x * kQueries + threadIdx.x;
  float query[kDim];
  float acc[kDim];
  for (int d = 0; d < kDim; ++d) {
    query[d] = q[i * kDim + d];
    acc[d] = 0.0f;
  }
  float top = -INFINITY;
  float sum = 0.0f;

  for (int begin = 0; begin < key_length; begin += kTile) {
    for (int e = threadIdx.x; e < kTile * kDim; e += kQueries) {
      keys[e / kDim][e % kDim] = k[begin * kDim + e];
      values[e / kDim][e % kDim] = v[begin * kDim + e];
    }
    __syncthreads();

    float scores[kTile];
    float tile_top = top;
    for (int j = 0; j < kTile; ++j) {
      float dot = 0.0f;
      for (int d = 0; d < kDim; ++d) dot += query[d] * keys[j][d];
      scores[j] = dot * scale;
      tile_top = fmaxf(tile_top, scores[j]);
    }
    const float shrink = expf(top - tile_top);
    sum *= shrink;
    for (int d = 0; d < kDim; ++d) acc[d] *= shrink;
    top = tile_top;
    for (int j = 0; j < kTile; ++j) {
      const float weight = expf(scores[j] - top);
      sum += weight;
      for (int d = 0; d < kDim; ++d) acc[d] += weight * values[j][d];
    }
    __syncthreads();
  }

  for (int d = 0; d < kDim; ++d) out[i * kDim + d] = acc[d] / sum;
  log_sum_exp[i] = logf(sum) + top;
}

}  // namespace

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  const int blocks = shape.query_length / kQueries;
  walk_over_keys<<<blocks, kQueries>>>(q, k, v, out, log_sum_exp, shape.key_length, shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
