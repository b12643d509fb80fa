#include "gemm.h"
#include "toolkit/check.h"

constexpr int T = 16;

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[T][T];
  __shared__ float Bs[T][T];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * T + y;
  const int column = blockIdx.x * T + x;
  float sum = 0;
  for (int t = 0; t < K; t += T) {
    if (row < M && t + x < K) As[y][x] = A[row * K + t + x];
    if (column < N && t + y < K) Bs[y][x] = B[(t + y) * N + column];
    __syncthreads();
    if (row < M && column < N) {
      for (int k = 0; k < T && t + k < K; ++k) sum += As[y][k] * Bs[k][x];
    }
    __syncthreads();
  }
  if (row < M && column < N) C[row * N + column] = sum;
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + T - 1) / T, (M + T - 1) / T);
  product<<<grid, dim3(T, T)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
