#include "flash_masked.h"

#include "toolkit/check.h"
#include "warp.h"

constexpr int kQueries = 8;   // a warp each
constexpr int kKeys = 32;     // a lane each
constexpr int kHead = 64;

__global__ void masked(const float* q, const float* k, const float* v, float* out,
                       float* log_sum_exp, AttentionShape shape) {
  __shared__ float q_tile[kQueries][kHead];
  __shared__ float k_tile[kKeys][kHead + 1];
  __shared__ float v_tile[kKeys][kHead];
  const int lane = threadIdx.x;
  const int warp = threadIdx.y;
  const int query = blockIdx.x * kQueries + warp;
  const bool real = query < shape.query_length;

  q_tile[warp][lane] = real ? q[query * kHead + lane] : 0.0f;
  q_tile[warp][lane + 32] = real ? q[query * kHead + lane + 32] : 0.0f;

  // keys begin ... end - 1 are those that my query sees
  int begin = 0;
  int end = shape.key_length;
  if (shape.causal) {
    const int own = query + shape.key_length - shape.query_length;
    end = min(end, own + 1);
    if (shape.window > 0) begin = max(0, own - shape.window + 1);
  }

  float largest = -INFINITY, sum = 0.0f, first = 0.0f, second = 0.0f;
  for (int j0 = 0; j0 < shape.key_length; j0 += kKeys) {
    __syncthreads();
    for (int r = warp; r < kKeys; r += kQueries) {
      const bool there = j0 + r < shape.key_length;
      k_tile[r][lane] = there ? k[(j0 + r) * kHead + lane] : 0.0f;
      k_tile[r][lane + 32] = there ? k[(j0 + r) * kHead + lane + 32] : 0.0f;
      v_tile[r][lane] = there ? v[(j0 + r) * kHead + lane] : 0.0f;
      v_tile[r][lane + 32] = there ? v[(j0 + r) * kHead + lane + 32] : 0.0f;
    }
    __syncthreads();
    float score = 0.0f;
    for (int d = 0; d < kHead; ++d) score += q_tile[warp][d] * k_tile[lane][d];
    score *= shape.scale;
    const int key = j0 + lane;
    if (key < begin || key >= end) score = -INFINITY;
    const float highest = fmaxf(largest, warp_max(score));
    if (highest == -INFINITY) continue;  // nothing seen yet; the same in all lanes
    const float old = expf(largest - highest);
    const float weight = expf(score - highest);
    sum = sum * old + warp_sum(weight);
    first *= old;
    second *= old;
    for (int j = 0; j < kKeys; ++j) {
      const float w = __shfl_sync(0xffffffff, weight, j);
      first += w * v_tile[j][lane];
      second += w * v_tile[j][lane + 32];
    }
    largest = highest;
  }
  if (!real) return;
  const float norm = sum > 0.0f ? 1.0f / sum : 0.0f;
  out[query * kHead + lane] = first * norm;
  out[query * kHead + lane + 32] = second * norm;
  if (lane == 0) log_sum_exp[query] = largest + logf(sum);
}

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  const int blocks = (shape.query_length + kQueries - 1) / kQueries;
  masked<<<blocks, dim3(32, kQueries)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
