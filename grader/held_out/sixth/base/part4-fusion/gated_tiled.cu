#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

#define EDGE 32
#define PADDED (EDGE + 1)

/* Copies one element of the 32 x 32 tile whose corner is (row0, col0). */
__device__ static void copy_tile(float tile[EDGE][PADDED], const float* matrix, int row0, int col0,
                                 int columns) {
  int r = threadIdx.y;
  int c = threadIdx.x;
  tile[r][c] = matrix[(row0 + r) * columns + col0 + c];
}

__global__ void gated_kernel(const float* x, const float* gate_proj, const float* up_proj,
                             float* product, struct MlpShape s) {
  __shared__ float x_tile[EDGE][PADDED];
  __shared__ float gate_tile[EDGE][PADDED];
  __shared__ float up_tile[EDGE][PADDED];
  int token0 = blockIdx.y * EDGE;
  int feature0 = blockIdx.x * EDGE;
  int mine = threadIdx.x; /* feature within the tile */
  int token = threadIdx.y;
  float gate = 0.0f;
  float up = 0.0f;
  int h0, p;

  for (h0 = 0; h0 < s.hidden; h0 += EDGE) {
    copy_tile(x_tile, x, token0, h0, s.hidden);
    copy_tile(gate_tile, gate_proj, feature0, h0, s.hidden);
    copy_tile(up_tile, up_proj, feature0, h0, s.hidden);
    __syncthreads();
    for (p = 0; p < EDGE; p++) {
      float v = x_tile[token][p];
      gate += v * gate_tile[mine][p];
      up += v * up_tile[mine][p];
    }
    __syncthreads();
  }
  product[(token0 + token) * s.intermediate + feature0 + mine] = gelu(gate) * up;
}

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  dim3 block(EDGE, EDGE);
  dim3 grid(shape.intermediate / EDGE, shape.tokens / EDGE);
  gated_kernel<<<grid, block, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
