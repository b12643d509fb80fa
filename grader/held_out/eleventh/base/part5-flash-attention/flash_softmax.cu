#include "flash_softmax.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kRows = 32;  // queries of a block, and all keys
constexpr int kDims = 64;
constexpr int kWarps = 4;

__global__ void attend_tile(const float* q, const float* k, const float* v, float* out,
                            float* log_sum_exp, float scale) {
  __shared__ float queries[kRows][kDims];
  __shared__ float keys[kRows][kDims + 1];
  __shared__ float values[kRows][kDims];
  const int lane = threadIdx.x;
  const int warp = threadIdx.y;
  const int first = blockIdx.x * kRows;
  for (int r = warp; r < kRows; r += kWarps) {
    for (int d = lane; d < kDims; d += 32) {
      queries[r][d] = q[(first + r) * kDims + d];
      keys[r][d] = k[r * kDims + d];
      values[r][d] = v[r * kDims + d];
    }
  }
  __syncthreads();
  for (int r = warp; r < kRows; r += kWarps) {
    float score = 0.0f;
    for (int d = 0; d < kDims; ++d) score += queries[r][d] * keys[lane][d];
    score *= scale;
    const float peak = warp_max(score);
    const float weight = expf(score - peak);
    const float total = warp_sum(weight);
    float low = 0.0f, high = 0.0f;
    for (int j = 0; j < kRows; ++j) {
      const float w = __shfl_sync(0xffffffffu, weight, j);
      low += w * values[j][lane];
      high += w * values[j][lane + 32];
    }
    float* row = out + (first + r) * kDims;
    row[lane] = low / total;
    row[lane + 32] = high / total;
    if (lane == 0) log_sum_exp[first + r] = peak + logf(total);
  }
}

}  // namespace

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  const dim3 threads(32, kWarps);
  attend_tile<<<query_length / kRows, threads>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
