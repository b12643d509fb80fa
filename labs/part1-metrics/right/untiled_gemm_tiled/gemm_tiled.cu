#include "gemm.h"
#include "toolkit/check.h"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  C[row * N + column] = sum;
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 block(32, 8);
  const dim3 grid((N + 31) / 32, (M + 7) / 8);
  product<<<grid, block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
