#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

#define TILE 16

// x @ gate.T and x @ up.T together. All sizes are multiples of 32, so of TILE, too.
__global__ void gated_k(const float* x, const float* gp, const float* up, float* prod, int H, int I) {
  __shared__ float xs[TILE][TILE + 1], gs[TILE][TILE + 1], us[TILE][TILE + 1];
  int c = threadIdx.x, r = threadIdx.y;
  int tok = blockIdx.y * TILE + r;
  int feat = blockIdx.x * TILE + c;
  int frow = blockIdx.x * TILE + r;  // the feature whose weights this thread loads
  float g = 0.f, u = 0.f;
  for (int h = 0; h < H; h += TILE) {
    xs[r][c] = x[tok * H + h + c];
    gs[r][c] = gp[frow * H + h + c];
    us[r][c] = up[frow * H + h + c];
    __syncthreads();
    for (int k = 0; k < TILE; k++) {
      g += xs[r][k] * gs[c][k];
      u += xs[r][k] * us[c][k];
    }
    __syncthreads();
  }
  prod[tok * I + feat] = gelu(g) * u;
}

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  dim3 grid(shape.intermediate / TILE, shape.tokens / TILE);
  dim3 block(TILE, TILE);
  gated_k<<<grid, block, 0, stream>>>(x, gate_proj, up_proj, product, shape.hidden,
                                      shape.intermediate);
  CUDA_CHECK(cudaGetLastError());
}
