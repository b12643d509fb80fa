#include "gemm.h"
#include "toolkit/check.h"

#define TILE 32  /* edge of the block's tile of C */
#define DEPTH 8  /* how far one step goes along K */
#define PATCH 2  /* edge of a thread's patch of C */
#define SIDE (TILE / PATCH)
#define TEAM (SIDE * SIDE)

struct gemm_size {
  int m;
  int n;
  int k;
};

__device__ static void load_a_tile(float tile[TILE][DEPTH], const float* A, int row0, int k0,
                                   struct gemm_size s, int me) {
  int e;
  for (e = me; e < TILE * DEPTH; e += TEAM) {
    int r = e / DEPTH;
    int d = e % DEPTH;
    bool inside = row0 + r < s.m && k0 + d < s.k;
    tile[r][d] = inside ? A[(row0 + r) * s.k + k0 + d] : 0.0f;
  }
}

__device__ static void load_b_tile(float tile[DEPTH][TILE], const float* B, int k0, int col0,
                                   struct gemm_size s, int me) {
  int e;
  for (e = me; e < DEPTH * TILE; e += TEAM) {
    int d = e / TILE;
    int c = e % TILE;
    bool inside = k0 + d < s.k && col0 + c < s.n;
    tile[d][c] = inside ? B[(k0 + d) * s.n + col0 + c] : 0.0f;
  }
}

__global__ void patch_kernel(const float* A, const float* B, float* C, struct gemm_size s) {
  __shared__ float tile_a[TILE][DEPTH];
  __shared__ float tile_b[DEPTH][TILE];
  float patch[PATCH][PATCH] = {};
  int me = threadIdx.x;
  int r0 = (me / SIDE) * PATCH;
  int c0 = (me % SIDE) * PATCH;
  int row0 = blockIdx.y * TILE;
  int col0 = blockIdx.x * TILE;
  int k0, d, i, j;

  for (k0 = 0; k0 < s.k; k0 += DEPTH) {
    load_a_tile(tile_a, A, row0, k0, s, me);
    load_b_tile(tile_b, B, k0, col0, s, me);
    __syncthreads();
    for (d = 0; d < DEPTH; d++) {
      for (i = 0; i < PATCH; i++) {
        for (j = 0; j < PATCH; j++) {
          patch[i][j] += tile_a[r0 + i][d] * tile_b[d][c0 + j];
        }
      }
    }
    __syncthreads();
  }

  for (i = 0; i < PATCH; i++) {
    int row = row0 + r0 + i;
    if (row >= s.m) break;
    for (j = 0; j < PATCH; j++) {
      int col = col0 + c0 + j;
      if (col >= s.n) break;
      C[row * s.n + col] = patch[i][j];
    }
  }
}

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  struct gemm_size s = {M, N, K};
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  patch_kernel<<<grid, TEAM>>>(A, B, C, s);
  CUDA_CHECK(cudaGetLastError());
}
