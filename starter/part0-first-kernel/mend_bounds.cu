#include "mend_bounds.h"

#include "toolkit/check.h"

// This file compiles and launches, and is wrong. Run it, read what the grader says, and mend it.
__global__ void differences_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i + 1] - x[i];
}

void differences(const float* x, float* y, int n) {
  const int threads = 128;
  const int blocks = (n + threads - 1) / threads;
  differences_kernel<<<blocks, threads>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
