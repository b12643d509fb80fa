#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

using namespace nvcuda;

namespace {

constexpr int kTile = 16;
constexpr int kDeep = 32;  // of a step along hidden

using Strip = __half[kTile][kDeep];

// A strip of a (rows, width) matrix, with zeros where there is none of it.
__device__ void stage(const __half* matrix, int rows, int width, int top, int from, Strip& strip) {
  for (int e = threadIdx.x; e < kTile * kDeep; e += 32) {
    const int r = e / kDeep, k = e % kDeep;
    const bool inside = top + r < rows && from + k < width;
    strip[r][k] = inside ? matrix[(top + r) * width + from + k] : __float2half(0.0f);
  }
}

__global__ void gated_edges(const __half* x, const __half* gate_proj, const __half* up_proj,
                            __half* product, MlpShape shape) {
  __shared__ alignas(32) Strip tokens, gates, ups;
  __shared__ alignas(32) float gate_sums[kTile][kTile], up_sums[kTile][kTile];
  const int feature = blockIdx.x * kTile, token = blockIdx.y * kTile;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> gate, up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  for (int from = 0; from < shape.hidden; from += kDeep) {
    stage(x, shape.tokens, shape.hidden, token, from, tokens);
    stage(gate_proj, shape.intermediate, shape.hidden, feature, from, gates);
    stage(up_proj, shape.intermediate, shape.hidden, feature, from, ups);
    __syncwarp();
    for (int k = 0; k < kDeep; k += kTile) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> g, u;
      wmma::load_matrix_sync(a, &tokens[0][k], kDeep);
      wmma::load_matrix_sync(g, &gates[0][k], kDeep);
      wmma::load_matrix_sync(u, &ups[0][k], kDeep);
      wmma::mma_sync(gate, a, g, gate);
      wmma::mma_sync(up, a, u, up);
    }
    __syncwarp();
  }
  wmma::store_matrix_sync(&gate_sums[0][0], gate, kTile, wmma::mem_row_major);
  wmma::store_matrix_sync(&up_sums[0][0], up, kTile, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < kTile * kTile; e += 32) {
    const int r = e / kTile, c = e % kTile;
    if (token + r < shape.tokens && feature + c < shape.intermediate) {
      product[(token + r) * shape.intermediate + feature + c] =
          __float2half(gelu(gate_sums[r][c]) * up_sums[r][c]);
    }
  }
}

}  // namespace

void gated_ragged(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(divide_up(shape.intermediate, kTile), divide_up(shape.tokens, kTile));
  gated_edges<<<grid, 32, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
