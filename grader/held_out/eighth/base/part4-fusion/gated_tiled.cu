#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

// 32 tokens by 32 features for a block of 32 x 8 threads: a thread has one feature of four tokens.
constexpr int kSide = 32;
constexpr int kLines = 8;

__global__ void gate_and_up(const float* x, const float* gate_proj, const float* up_proj,
                            float* product, MlpShape shape) {
  __shared__ float x_tile[kSide][kSide + 1];
  __shared__ float gate_tile[kSide][kSide + 1];  // [feature][along hidden]
  __shared__ float up_tile[kSide][kSide + 1];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int first_token = blockIdx.y * kSide;
  const int first_feature = blockIdx.x * kSide;

  float gate[kSide / kLines] = {};
  float up[kSide / kLines] = {};
  for (int step = 0; step < shape.hidden; step += kSide) {
    for (int line = ty; line < kSide; line += kLines) {
      x_tile[line][tx] = x[(first_token + line) * shape.hidden + step + tx];
      const int weight = (first_feature + line) * shape.hidden + step + tx;
      gate_tile[line][tx] = gate_proj[weight];
      up_tile[line][tx] = up_proj[weight];
    }
    __syncthreads();
    for (int h = 0; h < kSide; ++h) {
      const float g = gate_tile[tx][h];
      const float u = up_tile[tx][h];
      for (int p = 0; p < kSide / kLines; ++p) {
        const float value = x_tile[ty + p * kLines][h];
        gate[p] += value * g;
        up[p] += value * u;
      }
    }
    __syncthreads();
  }

  for (int p = 0; p < kSide / kLines; ++p) {
    const int token = first_token + ty + p * kLines;
    product[token * shape.intermediate + first_feature + tx] = gelu(gate[p]) * up[p];
  }
}

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.intermediate / kSide, shape.tokens / kSide);
  const dim3 block(kSide, kLines);
  gate_and_up<<<grid, block, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
