#include "gemm_wmma.h"

#include "toolkit/check.h"

__global__ void multiply(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, size_t count,
                         int N, int K) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const size_t row = i / N, column = i % N;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    sum +=
        __bfloat162float(A[row * K + k]) * __bfloat162float(B[static_cast<size_t>(k) * N + column]);
  }
  C[i] = sum;
}

void gemm_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
  const size_t count = static_cast<size_t>(M) * N;
  multiply<<<static_cast<unsigned>((count + 255) / 256), 256>>>(A, B, C, count, N, K);
  CUDA_CHECK(cudaGetLastError());
}
