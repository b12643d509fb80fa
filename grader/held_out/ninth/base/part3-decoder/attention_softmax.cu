#include "attention_steps.h"
#include "common.cuh"
#include "toolkit/check.h"

// Online: a lane keeps its own largest score and the sum that belongs to it; then lanes merge.
struct Running {
  float top;
  float total;
  __device__ void see(float score) {
    if (score > top) {
      total = total * expf(top - score) + 1.0f;
      top = score;
    } else if (score > -INFINITY) {
      total += expf(score - top);
    }
  }
};

constexpr int kRowsPerBlock = 4;

__global__ void softmax_rows(const float* scores, float* weights, int rows, int length) {
  const int row = blockIdx.x * kRowsPerBlock + threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  const float* in = scores + static_cast<size_t>(row) * length;
  float* out = weights + static_cast<size_t>(row) * length;
  Running mine{-INFINITY, 0.0f};
  for (int j = lane; j < length; j += kWarpSize) mine.see(in[j]);
  const float top = warp_max(mine.top);
  const float share = mine.top > -INFINITY ? mine.total * expf(mine.top - top) : 0.0f;
  const float total = warp_sum(share);
  for (int j = lane; j < length; j += kWarpSize) out[j] = expf(in[j] - top) / total;
}

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  const int blocks = (rows + kRowsPerBlock - 1) / kRowsPerBlock;
  softmax_rows<<<blocks, kRowsPerBlock * kWarpSize>>>(scores, weights, rows, length);
  CUDA_CHECK(cudaGetLastError());
}
