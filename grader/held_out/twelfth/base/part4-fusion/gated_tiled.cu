#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

namespace {

constexpr int kSide = 32;
constexpr int kRows = 8;  // rows of threads: each thread has kSide / kRows tokens

__global__ void gate_and_up(const float* x, const float* gate_proj, const float* up_proj,
                            float* product, MlpShape shape) {
  __shared__ float tokens[kSide][kSide];
  __shared__ float gates[kSide][kSide + 1];
  __shared__ float ups[kSide][kSide + 1];
  const int column = threadIdx.x;
  const int feature = blockIdx.x * kSide;
  const int token = blockIdx.y * kSide;
  float gate[kSide / kRows] = {}, up[kSide / kRows] = {};
  for (int from = 0; from < shape.hidden; from += kSide) {
    for (int r = threadIdx.y; r < kSide; r += kRows) {
      tokens[r][column] = x[(token + r) * shape.hidden + from + column];
      gates[r][column] = gate_proj[(feature + r) * shape.hidden + from + column];
      ups[r][column] = up_proj[(feature + r) * shape.hidden + from + column];
    }
    __syncthreads();
    for (int k = 0; k < kSide; ++k) {
      const float g = gates[column][k], u = ups[column][k];
      for (int t = 0; t < kSide / kRows; ++t) {
        const float value = tokens[threadIdx.y + t * kRows][k];
        gate[t] += value * g;
        up[t] += value * u;
      }
    }
    __syncthreads();
  }
  for (int t = 0; t < kSide / kRows; ++t) {
    const int row = token + threadIdx.y + t * kRows;
    product[row * shape.intermediate + feature + column] = gelu(gate[t]) * up[t];
  }
}

}  // namespace

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.intermediate / kSide, shape.tokens / kSide);
  gate_and_up<<<grid, dim3(kSide, kRows), 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
