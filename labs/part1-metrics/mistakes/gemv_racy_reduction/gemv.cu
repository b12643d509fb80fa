#include "gemv.h"

namespace {

constexpr int kThreads = 128;

__global__ void gemv_kernel(const float* A, const float* x, float* y, int K) {
  __shared__ float partial[kThreads];
  const int thread = threadIdx.x;
  const int row = blockIdx.x;

  float sum = 0.0f;
  for (int k = thread; k < K; k += kThreads) sum += A[row * K + k] * x[k];
  partial[thread] = sum;
  if (thread == 0) {
    for (int i = 1; i < kThreads; ++i) sum += partial[i];
    y[row] = sum;
  }
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  gemv_kernel<<<M, kThreads>>>(A, x, y, K);
}
