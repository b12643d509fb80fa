#include "gemv.h"

namespace {

__global__ void gemv_kernel(const float* A, const float* x, float* y, int M, int K) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[static_cast<size_t>(row) * K + k] * x[k];
  y[row] = sum;
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  gemv_kernel<<<(M + 127) / 128, 128>>>(A, x, y, M, K);
}
