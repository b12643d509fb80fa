#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: one warp for each 16 x 16 tile of product, with two accumulators.
namespace {

namespace wmma = nvcuda::wmma;

constexpr int kFragment = 16;  // a tensor core multiplies 16 x 16 by 16 x 16

using FragmentX =
    wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, wmma::row_major>;
// A row of a projection holds the weights of one feature, which is a column of its transpose.
using FragmentWeight =
    wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, wmma::col_major>;
using FragmentSum = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

// A block is one warp, which computes one tile of product.
__global__ void gated_wmma_kernel(const __half* x, const __half* gate_proj, const __half* up_proj,
                                  __half* product, int hidden, int intermediate) {
  const int token0 = blockIdx.y * kFragment;
  const int feature0 = blockIdx.x * kFragment;

  FragmentSum gate, up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  for (int k0 = 0; k0 < hidden; k0 += kFragment) {
    FragmentX rows;
    FragmentWeight gate_columns, up_columns;
    wmma::load_matrix_sync(rows, x + token0 * hidden + k0, hidden);
    wmma::load_matrix_sync(gate_columns, gate_proj + feature0 * hidden + k0, hidden);
    wmma::load_matrix_sync(up_columns, up_proj + feature0 * hidden + k0, hidden);
    wmma::mma_sync(gate, rows, gate_columns, gate);
    wmma::mma_sync(up, rows, up_columns, up);
  }

  // Both accumulators spread over the lanes in the same way: element e of gate meets element e of
  // up. Which element of the tile that is, is not specified, so the product goes through shared
  // memory, from where it is rounded and stored.
  for (int e = 0; e < gate.num_elements; ++e) gate.x[e] = gelu(gate.x[e]) * up.x[e];
  __shared__ __align__(32) float tile[kFragment][kFragment];
  wmma::store_matrix_sync(&tile[0][0], gate, kFragment, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < kFragment * kFragment; i += kWarpSize) {
    const int row = i / kFragment, column = i % kFragment;
    product[(token0 + row) * intermediate + feature0 + column] = __float2half(tile[row][column]);
  }
}

}  // namespace
// END SOLUTION

void gated_wmma(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                const MlpShape& shape, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let one warp walk along hidden: load three fragments, multiply twice");
  const dim3 blocks(shape.intermediate / kFragment, shape.tokens / kFragment);
  gated_wmma_kernel<<<blocks, kWarpSize, 0, stream>>>(x, gate_proj, up_proj, product, shape.hidden,
                                                      shape.intermediate);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
