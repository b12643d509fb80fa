#include "attention_steps.h"

#include <cmath>

#include "toolkit/check.h"

#define WARP 32
#define ROWS_PER_BLOCK 4
#define FULL_MASK 0xffffffffu

// warp per row, three passes: max, sum, write
__global__ void softmaxWarp(const float* in, float* out, int rows, int len) {
  const int lane = threadIdx.x;
  const int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.y;
  if (row >= rows) return;
  const float* src = in + (size_t)row * len;
  float* dst = out + (size_t)row * len;

  float m = -INFINITY;
  for (int i = lane; i < len; i += WARP) m = fmaxf(m, src[i]);
  for (int o = WARP / 2; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(FULL_MASK, m, o));

  float z = 0.f;
  for (int i = lane; i < len; i += WARP) z += expf(src[i] - m);
  for (int o = WARP / 2; o > 0; o >>= 1) z += __shfl_xor_sync(FULL_MASK, z, o);

  const float inv = 1.f / z;
  for (int i = lane; i < len; i += WARP) dst[i] = expf(src[i] - m) * inv;
}

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  dim3 block(WARP, ROWS_PER_BLOCK);
  const int grid = (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
  softmaxWarp<<<grid, block>>>(scores, weights, rows, length);
  CUDA_CHECK(cudaGetLastError());
}
