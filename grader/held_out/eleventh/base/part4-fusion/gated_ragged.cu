#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kEdge = 16;
constexpr int kWarps = 3;                // of a block: each has kEdge tokens
constexpr int kTokens = kWarps * kEdge;  // of a block
constexpr int kThreads = kWarps * kWarpSize;

using Left = wmma::fragment<wmma::matrix_a, kEdge, kEdge, kEdge, __half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, kEdge, kEdge, kEdge, __half, wmma::col_major>;
using Total = wmma::fragment<wmma::accumulator, kEdge, kEdge, kEdge, float>;

// Rows first, first + 1, ... of a matrix of `rows` x `width`, from column h on; zeros beyond.
template <int kRows>
__device__ void fetch(const __half* matrix, int first, int rows, int h, int width,
                      __half (&tile)[kRows][kEdge]) {
  for (int e = threadIdx.x; e < kRows * kEdge; e += kThreads) {
    const int r = e / kEdge;
    const int d = e % kEdge;
    const bool there = first + r < rows && h + d < width;
    tile[r][d] = there ? matrix[(first + r) * width + h + d] : __float2half(0.0f);
  }
}

__global__ void gate_ragged(const __half* x, const __half* gate_proj, const __half* up_proj,
                            __half* product, MlpShape shape) {
  __shared__ __align__(32) __half tile_x[kTokens][kEdge];
  __shared__ __align__(32) __half tile_gate[kEdge][kEdge];
  __shared__ __align__(32) __half tile_up[kEdge][kEdge];
  __shared__ __align__(32) float result[kTokens][kEdge];
  const int warp = threadIdx.x / kWarpSize;
  const int token0 = blockIdx.x * kTokens;
  const int feature0 = blockIdx.y * kEdge;
  Total gate, up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  for (int h = 0; h < shape.hidden; h += kEdge) {
    fetch(x, token0, shape.tokens, h, shape.hidden, tile_x);
    fetch(gate_proj, feature0, shape.intermediate, h, shape.hidden, tile_gate);
    fetch(up_proj, feature0, shape.intermediate, h, shape.hidden, tile_up);
    __syncthreads();
    Left left;
    Right of_gate, of_up;
    wmma::load_matrix_sync(left, &tile_x[warp * kEdge][0], kEdge);
    wmma::load_matrix_sync(of_gate, &tile_gate[0][0], kEdge);
    wmma::load_matrix_sync(of_up, &tile_up[0][0], kEdge);
    wmma::mma_sync(gate, left, of_gate, gate);
    wmma::mma_sync(up, left, of_up, up);
    __syncthreads();
  }
  for (int e = 0; e < gate.num_elements; ++e) gate.x[e] = gelu(gate.x[e]) * up.x[e];
  wmma::store_matrix_sync(&result[warp * kEdge][0], gate, kEdge, wmma::mem_row_major);
  __syncthreads();
  for (int e = threadIdx.x; e < kTokens * kEdge; e += kThreads) {
    const int token = token0 + e / kEdge;
    const int feature = feature0 + e % kEdge;
    if (token >= shape.tokens || feature >= shape.intermediate) continue;
    product[token * shape.intermediate + feature] = __float2half(result[e / kEdge][e % kEdge]);
  }
}

}  // namespace

void gated_ragged(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(divide_up(shape.tokens, kTokens), divide_up(shape.intermediate, kEdge));
  gate_ragged<<<grid, kThreads, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
