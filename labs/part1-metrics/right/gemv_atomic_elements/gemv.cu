#include "gemv.h"
#include "toolkit/check.h"

__global__ void add_products(const float* A, const float* x, float* y, int M, int K) {
  const long count = static_cast<long>(M) * K;
  const long stride = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count; i += stride) {
    atomicAdd(y + i / K, A[i] * x[i % K]);
  }
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  CUDA_CHECK(cudaMemsetAsync(y, 0, M * sizeof(float)));
  add_products<<<1024, 256>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
