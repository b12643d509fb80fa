#include <math.h>

#include "attention_steps.h"
#include "common.cuh"
#include "toolkit/check.h"

#define WARPS 4

__device__ static float largest_of(const float* row, int length, int lane) {
  float best = -INFINITY;
  int j;
  for (j = lane; j < length; j += kWarpSize) best = fmaxf(best, row[j]);
  return warp_max(best);
}

__device__ static float sum_of_exponentials(const float* row, int length, int lane, float m) {
  float sum = 0.0f;
  int j;
  for (j = lane; j < length; j += kWarpSize) sum += expf(row[j] - m);
  return warp_sum(sum);
}

__global__ void softmax_kernel(const float* scores, float* weights, int rows, int length) {
  int lane = threadIdx.x % kWarpSize;
  int r = blockIdx.x * WARPS + threadIdx.x / kWarpSize;
  if (r >= rows) return;

  const float* from = scores + (size_t)r * length;
  float* to = weights + (size_t)r * length;
  float m = largest_of(from, length, lane);
  float sum = sum_of_exponentials(from, length, lane, m);
  int j;
  for (j = lane; j < length; j += kWarpSize) {
    to[j] = expf(from[j] - m) / sum;
  }
}

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  int blocks = (rows + WARPS - 1) / WARPS;
  softmax_kernel<<<blocks, WARPS * kWarpSize>>>(scores, weights, rows, length);
  CUDA_CHECK(cudaGetLastError());
}
