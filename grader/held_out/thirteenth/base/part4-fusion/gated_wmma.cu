#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kPiece = 16;
constexpr int kWarps = 2;  // of a block, side by side along the features

using Tokens = wmma::fragment<wmma::matrix_a, kPiece, kPiece, kPiece, __half, wmma::row_major>;
using Weights = wmma::fragment<wmma::matrix_b, kPiece, kPiece, kPiece, __half, wmma::col_major>;
using Accumulator = wmma::fragment<wmma::accumulator, kPiece, kPiece, kPiece, float>;

__global__ void gated_pieces(const __half* x, const __half* gate_proj, const __half* up_proj,
                             __half* product, int hidden, int intermediate) {
  __shared__ __align__(32) float piece[kWarps][kPiece * kPiece];
  const int warp = threadIdx.y, lane = threadIdx.x;
  const int feature = (blockIdx.x * kWarps + warp) * kPiece;
  const int token = blockIdx.y * kPiece;
  if (feature >= intermediate) return;

  Accumulator gate, up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  const __half* tokens = x + token * hidden;
  const __half* gates = gate_proj + feature * hidden;
  const __half* ups = up_proj + feature * hidden;
  for (int step = 0; step < hidden / kPiece; ++step) {
    Tokens a;
    Weights b;
    wmma::load_matrix_sync(a, tokens + step * kPiece, hidden);
    wmma::load_matrix_sync(b, gates + step * kPiece, hidden);
    wmma::mma_sync(gate, a, b, gate);
    wmma::load_matrix_sync(b, ups + step * kPiece, hidden);
    wmma::mma_sync(up, a, b, up);
  }

  for (int e = 0; e < up.num_elements; ++e) up.x[e] *= gelu(gate.x[e]);
  wmma::store_matrix_sync(piece[warp], up, kPiece, wmma::mem_row_major);
  __syncwarp();
  for (int e = lane; e < kPiece * kPiece; e += 32) {
    const int row = token + e / kPiece, column = feature + e % kPiece;
    product[row * intermediate + column] = __float2half(piece[warp][e]);
  }
}

}  // namespace

void gated_wmma(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(divide_up(shape.intermediate, kWarps * kPiece), shape.tokens / kPiece);
  gated_pieces<<<grid, dim3(32, kWarps), 0, stream>>>(x, gate_proj, up_proj, product, shape.hidden,
                                                      shape.intermediate);
  CUDA_CHECK(cudaGetLastError());
}
