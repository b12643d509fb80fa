#include "gemm.h"
#include "toolkit/check.h"

constexpr int kTile = 32;

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[kTile][kTile];
  __shared__ float b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < K; first += kTile) {
    const int k_of_a = first + threadIdx.x;
    const int k_of_b = first + threadIdx.y;
    a[threadIdx.y][threadIdx.x] = row < M && k_of_a < K ? A[row * K + k_of_a] : 0;
    b[threadIdx.y][threadIdx.x] = k_of_b < K && column < N ? B[k_of_b * N + column] : 0;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) C[row * N + column] = sum;
}

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 block(kTile, kTile);
  const dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
  product<<<grid, block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
