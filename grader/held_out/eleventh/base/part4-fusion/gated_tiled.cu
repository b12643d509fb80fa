#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

namespace {

constexpr int kTokens = 16;    // rows of a block's tile of product
constexpr int kFeatures = 32;  // its columns
constexpr int kDeep = 32;      // elements of hidden in one step

__global__ void gate_tile(const float* x, const float* gate_proj, const float* up_proj,
                          float* product, MlpShape shape) {
  __shared__ float tile_x[kTokens][kDeep];
  __shared__ float tile_gate[kFeatures][kDeep + 1];
  __shared__ float tile_up[kFeatures][kDeep + 1];
  const int column = threadIdx.x;
  const int row = threadIdx.y;
  const int token0 = blockIdx.x * kTokens;
  const int feature0 = blockIdx.y * kFeatures;
  float gate = 0.0f, up = 0.0f;
  for (int h = 0; h < shape.hidden; h += kDeep) {
    tile_x[row][column] = x[(token0 + row) * shape.hidden + h + column];
    for (int f = row; f < kFeatures; f += kTokens) {
      const int at = (feature0 + f) * shape.hidden + h + column;
      tile_gate[f][column] = gate_proj[at];
      tile_up[f][column] = up_proj[at];
    }
    __syncthreads();
    for (int d = 0; d < kDeep; ++d) {
      const float value = tile_x[row][d];
      gate += value * tile_gate[column][d];
      up += value * tile_up[column][d];
    }
    __syncthreads();
  }
  product[(token0 + row) * shape.intermediate + feature0 + column] = gelu(gate) * up;
}

}  // namespace

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.tokens / kTokens, shape.intermediate / kFeatures);
  gate_tile<<<grid, dim3(kFeatures, kTokens), 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
