#include "gemm.h"
#include "toolkit/check.h"

#define TILE 4

__global__ void gemm_tiled_kernel(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float tileA[TILE][TILE];
  __shared__ float tileB[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty;
  int col = blockIdx.x * TILE + tx;
  float value = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; t++) {
    int a_col = t * TILE + tx;
    int b_row = t * TILE + ty;
    tileA[ty][tx] = (row < M && a_col < K) ? A[row * K + a_col] : 0.0f;
    tileB[ty][tx] = (b_row < K && col < N) ? B[b_row * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; k++) value += tileA[ty][k] * tileB[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = value;
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 block(TILE, TILE);
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  gemm_tiled_kernel<<<grid, block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
