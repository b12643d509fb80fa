#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

namespace {

constexpr int kSide = 32;
constexpr int kStep = 8;               // rows of threads
constexpr int kRows = kSide / kStep;   // results of a thread, one below the other
using Tile = float[kSide][kSide + 1];  // one column more: no two rows begin in the same bank

// tile[r][c] = matrix[r0 + r][c0 + c]
__device__ void bring(Tile& tile, const float* matrix, int r0, int c0, int width) {
  for (int r = threadIdx.y; r < kSide; r += kStep) {
    tile[r][threadIdx.x] = matrix[(r0 + r) * width + c0 + threadIdx.x];
  }
}

__global__ void gate_times_up(const float* x, const float* gate_proj, const float* up_proj,
                              float* product, MlpShape s) {
  __shared__ Tile tokens, gates, ups;
  const int t0 = blockIdx.y * kSide, f0 = blockIdx.x * kSide;
  float g[kRows] = {}, u[kRows] = {};

  for (int h0 = 0; h0 < s.hidden; h0 += kSide) {
    bring(tokens, x, t0, h0, s.hidden);
    bring(gates, gate_proj, f0, h0, s.hidden);
    bring(ups, up_proj, f0, h0, s.hidden);
    __syncthreads();
    for (int h = 0; h < kSide; ++h) {
      const float by_gate = gates[threadIdx.x][h], by_up = ups[threadIdx.x][h];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float value = tokens[threadIdx.y + r * kStep][h];
        g[r] += value * by_gate;
        u[r] += value * by_up;
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kRows; ++r) {
    const int t = t0 + threadIdx.y + r * kStep;
    product[t * s.intermediate + f0 + threadIdx.x] = gelu(g[r]) * u[r];
  }
}

}  // namespace

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.intermediate / kSide, shape.tokens / kSide);
  gate_times_up<<<grid, dim3(kSide, kStep), 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
