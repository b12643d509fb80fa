#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kTokens = 32;    // of a block: two rows of warps
constexpr int kFeatures = 64;  // of a block: four columns of warps
constexpr int kDepth = 32;     // of a step along hidden
constexpr int kRow = kDepth + 8;
constexpr int kThreads = 256;

// Rows first ... of a (rows, width) matrix, columns from ..., with zeros where it has ended.
template <int kRows>
__device__ void stage(const __half* matrix, int first, int rows, int from, int width,
                      __half (&tile)[kRows][kRow]) {
  for (int t = threadIdx.x; t < kRows * kDepth; t += kThreads) {
    const int r = t / kDepth, c = t % kDepth;
    const bool exists = first + r < rows && from + c < width;
    tile[r][c] = exists ? matrix[(first + r) * width + from + c] : __half{};
  }
}

struct Stages {
  __half x[kTokens][kRow];
  __half gate[kFeatures][kRow];
  __half up[kFeatures][kRow];
};

__global__ void gated_any(const __half* x, const __half* gate_proj, const __half* up_proj,
                          __half* product, MlpShape shape) {
  __shared__ __align__(32) Stages stages;
  __shared__ __align__(32) float results[kTokens][kFeatures];
  const int warp = threadIdx.x / 32;
  const int down = warp / 4 * 16, across = warp % 4 * 16;
  const int token0 = blockIdx.y * kTokens, feature0 = blockIdx.x * kFeatures;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> gate, up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  for (int from = 0; from < shape.hidden; from += kDepth) {
    stage(x, token0, shape.tokens, from, shape.hidden, stages.x);
    stage(gate_proj, feature0, shape.intermediate, from, shape.hidden, stages.gate);
    stage(up_proj, feature0, shape.intermediate, from, shape.hidden, stages.up);
    __syncthreads();
    for (int d = 0; d < kDepth; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> g, u;
      wmma::load_matrix_sync(a, &stages.x[down][d], kRow);
      wmma::load_matrix_sync(g, &stages.gate[across][d], kRow);
      wmma::load_matrix_sync(u, &stages.up[across][d], kRow);
      wmma::mma_sync(gate, a, g, gate);
      wmma::mma_sync(up, a, u, up);
    }
    __syncthreads();
  }

  for (int e = 0; e < gate.num_elements; ++e) gate.x[e] = gelu(gate.x[e]) * up.x[e];
  wmma::store_matrix_sync(&results[down][across], gate, kFeatures, wmma::mem_row_major);
  __syncthreads();
  for (int t = threadIdx.x; t < kTokens * kFeatures; t += kThreads) {
    const int token = token0 + t / kFeatures, feature = feature0 + t % kFeatures;
    if (token < shape.tokens && feature < shape.intermediate) {
      product[token * shape.intermediate + feature] =
          __float2half(results[t / kFeatures][t % kFeatures]);
    }
  }
}

}  // namespace

void gated_ragged(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(divide_up(shape.intermediate, kFeatures), divide_up(shape.tokens, kTokens));
  gated_any<<<grid, kThreads, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
