#include "attention_steps.h"
#include "common.cuh"
#include "toolkit/check.h"

// Three passes over the row: largest, sum, quotient. A warp a row, 8 rows a block.
__global__ void rows_softmax(const float* scores, float* weights, int rows, int length) {
  const int r = blockIdx.x * 8 + threadIdx.y;
  if (r >= rows) return;
  const float* in = scores + static_cast<size_t>(r) * length;
  float* out = weights + static_cast<size_t>(r) * length;
  float top = -INFINITY;
  for (int j = threadIdx.x; j < length; j += 32) top = fmaxf(top, in[j]);
  top = warp_max(top);
  float bottom = 0.0f;
  for (int j = threadIdx.x; j < length; j += 32) bottom += expf(in[j] - top);
  bottom = warp_sum(bottom);
  for (int j = threadIdx.x; j < length; j += 32) out[j] = expf(in[j] - top) / bottom;
}

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  rows_softmax<<<(rows + 7) / 8, dim3(32, 8)>>>(scores, weights, rows, length);
  CUDA_CHECK(cudaGetLastError());
}
