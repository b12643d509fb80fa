#include "attention_steps.h"

#include <cmath>
#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"

namespace {

constexpr int kTeams = 5;  // warps of a block

// Warp w of the grid takes the rows w, w + all warps, ...
__global__ void soften(const float* scores, float* weights, int rows, int length) {
  const int lane = threadIdx.x % kWarpSize;
  const int warp = blockIdx.x * kTeams + threadIdx.x / kWarpSize;
  for (int r = warp; r < rows; r += gridDim.x * kTeams) {
    const float* from = scores + static_cast<std::int64_t>(r) * length;
    float* to = weights + static_cast<std::int64_t>(r) * length;
    float peak = -INFINITY;
    for (int j = lane; j < length; j += kWarpSize) peak = fmaxf(peak, from[j]);
    peak = warp_max(peak);
    float total = 0.0f;
    for (int j = lane; j < length; j += kWarpSize) total += expf(from[j] - peak);
    total = warp_sum(total);
    for (int j = lane; j < length; j += kWarpSize) to[j] = expf(from[j] - peak) / total;
  }
}

}  // namespace

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  const int blocks = (rows + 2 * kTeams - 1) / (2 * kTeams);
  soften<<<blocks, kTeams * kWarpSize>>>(scores, weights, rows, length);
  CUDA_CHECK(cudaGetLastError());
}
