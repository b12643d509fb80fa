#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

#define TS 32
#define ROWS 8  // threads along y, each has TS / ROWS tokens

__global__ void gatedTile(const float* x, const float* gp, const float* up, float* out, int H,
                          int I) {
  __shared__ float xs[TS][TS];
  __shared__ float gs[TS][TS + 1];
  __shared__ float us[TS][TS + 1];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int t0 = blockIdx.y * TS;  // first token
  const int f0 = blockIdx.x * TS;  // first feature

  float g[TS / ROWS] = {0.f}, u[TS / ROWS] = {0.f};

  for (int k0 = 0; k0 < H; k0 += TS) {
    for (int r = ty; r < TS; r += ROWS) {
      xs[r][tx] = x[(t0 + r) * H + k0 + tx];
      gs[r][tx] = gp[(f0 + r) * H + k0 + tx];
      us[r][tx] = up[(f0 + r) * H + k0 + tx];
    }
    __syncthreads();

    for (int k = 0; k < TS; k++) {
      for (int j = 0; j < TS / ROWS; j++) {
        const float xv = xs[ty + j * ROWS][k];
        g[j] += xv * gs[tx][k];
        u[j] += xv * us[tx][k];
      }
    }
    __syncthreads();
  }

  for (int j = 0; j < TS / ROWS; j++) {
    const int t = t0 + ty + j * ROWS;
    out[t * I + f0 + tx] = gelu(g[j]) * u[j];
  }
}

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  dim3 block(TS, ROWS);
  dim3 grid(shape.intermediate / TS, shape.tokens / TS);
  gatedTile<<<grid, block, 0, stream>>>(x, gate_proj, up_proj, product, shape.hidden,
                                        shape.intermediate);
  CUDA_CHECK(cudaGetLastError());
}
