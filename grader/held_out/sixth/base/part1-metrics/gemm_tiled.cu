#include "gemm.h"
#include "toolkit/check.h"

#define EDGE 16

struct gemm_size {
  int m;
  int n;
  int k;
};

/* Element (row, col) of a row-major matrix, or 0 outside of it. */
__device__ static float fetch(const float* matrix, int row, int col, int rows, int cols) {
  if (row >= rows) return 0.0f;
  if (col >= cols) return 0.0f;
  return matrix[row * cols + col];
}

__global__ void tiled_kernel(const float* A, const float* B, float* C, struct gemm_size s) {
  __shared__ float tile_a[EDGE][EDGE];
  __shared__ float tile_b[EDGE][EDGE];
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int row = blockIdx.y * EDGE + ty;
  int col = blockIdx.x * EDGE + tx;
  float acc = 0.0f;
  int start;
  int p;

  for (start = 0; start < s.k; start += EDGE) {
    tile_a[ty][tx] = fetch(A, row, start + tx, s.m, s.k);
    tile_b[ty][tx] = fetch(B, start + ty, col, s.k, s.n);
    __syncthreads();

    for (p = 0; p < EDGE; p++) {
      acc += tile_a[ty][p] * tile_b[p][tx];
    }
    __syncthreads();
  }

  if (row >= s.m) return;
  if (col >= s.n) return;
  C[row * s.n + col] = acc;
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  struct gemm_size s = {M, N, K};
  dim3 block(EDGE, EDGE);
  dim3 grid((N + EDGE - 1) / EDGE, (M + EDGE - 1) / EDGE);
  tiled_kernel<<<grid, block>>>(A, B, C, s);
  CUDA_CHECK(cudaGetLastError());
}
