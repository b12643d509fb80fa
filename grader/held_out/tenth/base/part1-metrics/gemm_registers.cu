#include "gemm.h"
#include "toolkit/check.h"

#define TILE 64
#define DEPTH 16
#define PATCH 4

__global__ void gemm_patch(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a_tile[DEPTH][TILE];  // transposed: a_tile[k][row]
  __shared__ float b_tile[DEPTH][TILE];
  int t = threadIdx.x;       // 0..255
  int pr = (t / 16) * PATCH; // where my patch begins in the tile
  int pc = (t % 16) * PATCH;
  int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
  float acc[PATCH][PATCH] = {};
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    for (int e = t; e < TILE * DEPTH; e += 256) {
      int r = e / DEPTH, k = e % DEPTH;
      a_tile[k][r] = (top + r < M && k0 + k < K) ? A[(top + r) * K + (k0 + k)] : 0.0f;
    }
    for (int e = t; e < TILE * DEPTH; e += 256) {
      int k = e / TILE, c = e % TILE;
      b_tile[k][c] = (k0 + k < K && left + c < N) ? B[(k0 + k) * N + (left + c)] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < DEPTH; ++k) {
      float av[PATCH], bv[PATCH];
      for (int i = 0; i < PATCH; ++i) av[i] = a_tile[k][pr + i];
      for (int j = 0; j < PATCH; ++j) bv[j] = b_tile[k][pc + j];
      for (int i = 0; i < PATCH; ++i)
        for (int j = 0; j < PATCH; ++j) acc[i][j] += av[i] * bv[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < PATCH; ++i)
    for (int j = 0; j < PATCH; ++j) {
      int r = top + pr + i, c = left + pc + j;
      if (r < M && c < N) C[r * N + c] = acc[i][j];
    }
}

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  gemm_patch<<<grid, 256>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
