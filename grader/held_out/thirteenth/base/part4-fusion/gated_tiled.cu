#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

namespace {

constexpr int kSide = 32;         // of a tile of product
constexpr int kDepth = 16;        // of a step along hidden
constexpr int kLayers = 8;        // rows of threads
constexpr int kEach = kSide / kLayers;

// Copies rows first ... first + 31 of a matrix, columns from ... from + 15.
__device__ void copy_tile(const float* matrix, int first, int from, int width,
                          float (&tile)[kSide][kDepth + 1]) {
  for (int t = threadIdx.y * kSide + threadIdx.x; t < kSide * kDepth; t += kSide * kLayers) {
    const int r = t / kDepth, c = t % kDepth;
    tile[r][c] = matrix[(first + r) * width + from + c];
  }
}

__global__ void gated_tiles(const float* x, const float* gate_proj, const float* up_proj,
                            float* product, int hidden, int intermediate) {
  __shared__ float tokens[kSide][kDepth + 1];
  __shared__ float gates[kSide][kDepth + 1];
  __shared__ float ups[kSide][kDepth + 1];
  const int token0 = blockIdx.y * kSide, feature0 = blockIdx.x * kSide;

  float gate[kEach] = {}, up[kEach] = {};
  for (int from = 0; from < hidden; from += kDepth) {
    copy_tile(x, token0, from, hidden, tokens);
    copy_tile(gate_proj, feature0, from, hidden, gates);
    copy_tile(up_proj, feature0, from, hidden, ups);
    __syncthreads();
    for (int d = 0; d < kDepth; ++d) {
      const float g = gates[threadIdx.x][d], u = ups[threadIdx.x][d];
      for (int e = 0; e < kEach; ++e) {
        const float token = tokens[threadIdx.y + e * kLayers][d];
        gate[e] += token * g;
        up[e] += token * u;
      }
    }
    __syncthreads();
  }

  for (int e = 0; e < kEach; ++e) {
    const int token = token0 + threadIdx.y + e * kLayers;
    product[token * intermediate + feature0 + threadIdx.x] = gelu(gate[e]) * up[e];
  }
}

}  // namespace

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.intermediate / kSide, shape.tokens / kSide);
  gated_tiles<<<grid, dim3(kSide, kLayers), 0, stream>>>(x, gate_proj, up_proj, product,
                                                         shape.hidden, shape.intermediate);
  CUDA_CHECK(cudaGetLastError());
}
