#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kEdge = 16;

using Left = wmma::fragment<wmma::matrix_a, kEdge, kEdge, kEdge, __half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, kEdge, kEdge, kEdge, __half, wmma::col_major>;
using Total = wmma::fragment<wmma::accumulator, kEdge, kEdge, kEdge, float>;

// A block is one warp, and makes the tile (blockIdx.y, blockIdx.x) of product.
__global__ void gate_piece(const __half* x, const __half* gate_proj, const __half* up_proj,
                           __half* product, MlpShape shape) {
  __shared__ __align__(32) float piece[kEdge][kEdge];
  const int token0 = blockIdx.y * kEdge;
  const int feature0 = blockIdx.x * kEdge;
  const __half* rows = x + token0 * shape.hidden;
  const __half* gates = gate_proj + feature0 * shape.hidden;
  const __half* ups = up_proj + feature0 * shape.hidden;
  Total gate, up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  for (int h = 0; h < shape.hidden; h += kEdge) {
    Left left;
    Right right;
    wmma::load_matrix_sync(left, rows + h, shape.hidden);
    wmma::load_matrix_sync(right, gates + h, shape.hidden);
    wmma::mma_sync(gate, left, right, gate);
    wmma::load_matrix_sync(right, ups + h, shape.hidden);
    wmma::mma_sync(up, left, right, up);
  }
  for (int e = 0; e < gate.num_elements; ++e) gate.x[e] = gelu(gate.x[e]) * up.x[e];
  wmma::store_matrix_sync(&piece[0][0], gate, kEdge, wmma::mem_row_major);
  __syncwarp();
  const int column = threadIdx.x % kEdge;
  for (int row = threadIdx.x / kEdge; row < kEdge; row += kWarpSize / kEdge) {
    product[(token0 + row) * shape.intermediate + feature0 + column] =
        __float2half(piece[row][column]);
  }
}

}  // namespace

void gated_wmma(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.intermediate / kEdge, shape.tokens / kEdge);
  gate_piece<<<grid, kWarpSize, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
