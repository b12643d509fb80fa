#include "mend_bounds.h"

#include "toolkit/check.h"

#define TPB 128

// x[i+1]-x[i], grid-stride
__global__ void diff(const float* x, float* y, int m) {
  for (int i = blockIdx.x * TPB + threadIdx.x; i < m; i += gridDim.x * TPB) {
    y[i] = x[i + 1] - x[i];
  }
}

void differences(const float* x, float* y, int n) {
  int m = n - 1;  // number of outputs
  int nblk = (m + TPB - 1) / TPB;
  diff<<<nblk, TPB>>>(x, y, m);
  CUDA_CHECK(cudaGetLastError());
}
