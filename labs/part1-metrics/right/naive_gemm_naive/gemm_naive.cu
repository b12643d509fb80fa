#include "gemm.h"
#include "toolkit/check.h"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  C[row * N + column] = sum;
}

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 block(16, 16);
  const dim3 grid((M + 15) / 16, (N + 15) / 16);
  product<<<grid, block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
