#include "mend_bounds.h"

#include "toolkit/check.h"

__global__ void steps_kernel(const float* x, float* y, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= steps) return;
  const float here = x[i];
  const float next = x[i + 1];
  y[i] = next - here;
}

void differences(const float* x, float* y, int n) {
  const int steps = n - 1;
  const int threads = 128;
  const int blocks = (steps + threads - 1) / threads;
  steps_kernel<<<blocks, threads>>>(x, y, steps);
  CUDA_CHECK(cudaGetLastError());
}
