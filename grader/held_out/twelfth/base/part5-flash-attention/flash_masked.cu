#include "flash_masked.h"

#include "toolkit/check.h"

namespace {

constexpr int kDim = 64;
constexpr int kTile = 24;     // keys
constexpr int kQueries = 32;  // of a block, a thread for each

// The keys that a query sees: [begin, end).
struct Seen {
  int begin, end;
};

__host__ __device__ Seen seen_by(int query, const AttentionShape& shape) {
  Seen seen{0, shape.key_length};
  if (shape.causal) {
    const int last = query + shape.key_length - shape.query_length;
    seen.end = last + 1 < shape.key_length ? last + 1 : shape.key_length;
    if (shape.window > 0 && last - shape.window + 1 > 0) seen.begin = last - shape.window + 1;
  }
  return seen;
}

__global__ void thread_for_a_query(const float* q, const float* k, const float* v, float* out,
                                   float* log_sum_exp, AttentionShape shape) {
  __shared__ float4 keys[kTile][kDim / 4];
  __shared__ float4 values[kTile][kDim / 4];
  const int query = blockIdx.x * kQueries + threadIdx.x;
  const bool exists = query < shape.query_length;
  float mine[kDim], sum[kDim];
  for (int d = 0; d < kDim; ++d) {
    mine[d] = exists ? q[query * kDim + d] : 0.0f;
    sum[d] = 0.0f;
  }
  float largest = -INFINITY, total = 0.0f;
  const Seen seen = seen_by(query, shape);

  for (int from = 0; from < shape.key_length; from += kTile) {
    const int here = min(kTile, shape.key_length - from);
    for (int e = threadIdx.x; e < here * kDim / 4; e += kQueries) {
      const int row = e / (kDim / 4), quad = e % (kDim / 4);
      keys[row][quad] = reinterpret_cast<const float4*>(k)[from * kDim / 4 + e];
      values[row][quad] = reinterpret_cast<const float4*>(v)[from * kDim / 4 + e];
    }
    __syncthreads();
    const int first = max(seen.begin - from, 0);
    const int behind = min(seen.end - from, here);
    for (int j = first; j < behind; ++j) {
      float score = 0.0f;
#pragma unroll
      for (int d = 0; d < kDim / 4; ++d) {
        const float4 key = keys[j][d];
        score += mine[4 * d] * key.x + mine[4 * d + 1] * key.y + mine[4 * d + 2] * key.z +
                 mine[4 * d + 3] * key.w;
      }
      score *= shape.scale;
      if (score > largest) {
        const float shrink = expf(largest - score);
        total *= shrink;
        for (int d = 0; d < kDim; ++d) sum[d] *= shrink;
        largest = score;
      }
      const float weight = expf(score - largest);
      total += weight;
#pragma unroll
      for (int d = 0; d < kDim / 4; ++d) {
        const float4 value = values[j][d];
        sum[4 * d] += weight * value.x;
        sum[4 * d + 1] += weight * value.y;
        sum[4 * d + 2] += weight * value.z;
        sum[4 * d + 3] += weight * value.w;
      }
    }
    __syncthreads();
  }

  if (!exists) return;
  const float factor = total > 0.0f ? 1.0f / total : 0.0f;
  for (int d = 0; d < kDim; ++d) out[query * kDim + d] = sum[d] * factor;
  log_sum_exp[query] = total > 0.0f ? largest + logf(total) : -INFINITY;
}

}  // namespace

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  const int blocks = (shape.query_length + kQueries - 1) / kQueries;
  thread_for_a_query<<<blocks, kQueries>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
