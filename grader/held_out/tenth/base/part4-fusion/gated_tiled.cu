#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

#define TS 16

// 16 x 16 threads, a tile of as many tokens and features
__global__ void gate_up_tiles(const float* x, const float* gp, const float* up, float* product,
                              int hidden, int intermediate) {
  __shared__ float xt[TS][TS];
  __shared__ float gt[TS][TS + 1];
  __shared__ float ut[TS][TS + 1];
  int c = threadIdx.x, r = threadIdx.y;
  int token = blockIdx.x * TS + r;
  int feature = blockIdx.y * TS + c;
  int loaded = blockIdx.y * TS + r;  // the feature whose weights this thread brings in
  float g = 0, u = 0;
  for (int k = 0; k < hidden; k += TS) {
    xt[r][c] = x[token * hidden + k + c];
    gt[r][c] = gp[loaded * hidden + k + c];
    ut[r][c] = up[loaded * hidden + k + c];
    __syncthreads();
    for (int kk = 0; kk < TS; kk++) {
      float xv = xt[r][kk];
      g += xv * gt[c][kk];
      u += xv * ut[c][kk];
    }
    __syncthreads();
  }
  product[token * intermediate + feature] = gelu(g) * u;
}

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  dim3 grid(shape.tokens / TS, shape.intermediate / TS);
  gate_up_tiles<<<grid, dim3(TS, TS), 0, stream>>>(x, gate_proj, up_proj, product, shape.hidden,
                                                  shape.intermediate);
  CUDA_CHECK(cudaGetLastError());
}
