#include "gemm_cublas.h"

#include "toolkit/check.h"

// A thread for each element of C.
__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += A[static_cast<size_t>(row) * K + k] * B[static_cast<size_t>(k) * N + column];
  }
  C[static_cast<size_t>(row) * N + column] = sum;
}

void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  cudaStream_t stream = nullptr;
  cublasGetStream(handle, &stream);
  multiply<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
