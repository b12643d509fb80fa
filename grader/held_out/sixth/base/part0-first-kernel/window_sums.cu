#include "window_sums.h"

#include "toolkit/check.h"

#define BLOCK 128
#define SPAN (BLOCK + 2 * kRadius)

/* x[at], or 0 where there is no such element. */
__device__ static float element_or_zero(const float* x, int at, int n) {
  if (at < 0) return 0.0f;
  if (at >= n) return 0.0f;
  return x[at];
}

__global__ void window_kernel(const float* x, float* y, int n) {
  __shared__ float span[SPAN];
  int first = blockIdx.x * BLOCK;
  int slot;
  int k;

  /* Slot s of the span holds x[first - kRadius + s]. */
  for (slot = threadIdx.x; slot < SPAN; slot += BLOCK) {
    span[slot] = element_or_zero(x, first - kRadius + slot, n);
  }
  __syncthreads();

  int i = first + threadIdx.x;
  if (i >= n) return;

  float total = 0.0f;
  for (k = 0; k <= 2 * kRadius; k++) {
    total += span[threadIdx.x + k];
  }
  y[i] = total;
}

void window_sums(const float* x, float* y, int n) {
  int blocks = (n + BLOCK - 1) / BLOCK;
  window_kernel<<<blocks, BLOCK>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
