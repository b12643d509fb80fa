#include "mend_bounds.h"

#include "toolkit/check.h"

__global__ void differences_kernel(const float* x, float* y, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= steps) return;
  const float here = x[i];
  const float next = x[i + 1];
  y[i] = next - here;
}

void differences(const float* x, float* y, int n) {
  const int threads = 128;
  const int steps = n - 1;
  const int blocks = (steps + threads - 1) / threads;
  differences_kernel<<<blocks, threads>>>(x, y, steps);
  CUDA_CHECK(cudaGetLastError());
}
