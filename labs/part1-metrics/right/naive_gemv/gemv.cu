#include "gemv.h"

#include "toolkit/check.h"

__global__ void rows(const float* A, const float* x, float* y, int M, int K) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[static_cast<size_t>(row) * K + k] * x[k];
  y[row] = sum;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  rows<<<(M + 127) / 128, 128>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
