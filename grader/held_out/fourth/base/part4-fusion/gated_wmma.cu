#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kTile = 16;
constexpr int kSize = kTile * kTile;

using Rows = wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major>;
// A projection has a feature for each row: read as columns, it is transposed.
using Features = wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::col_major>;
using Totals = wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float>;

// A block is one warp and makes one tile: features along x, tokens along y.
__global__ void gated_tile(const __half* x, const __half* gate_proj, const __half* up_proj,
                           __half* product, int hidden, int intermediate) {
  __shared__ float gates[kSize], ups[kSize];
  const int token = blockIdx.y * kTile;
  const int feature = blockIdx.x * kTile;

  Totals gate, up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  for (int h = 0; h < hidden; h += kTile) {
    Rows rows;
    Features features;
    wmma::load_matrix_sync(rows, x + token * hidden + h, hidden);
    wmma::load_matrix_sync(features, gate_proj + feature * hidden + h, hidden);
    wmma::mma_sync(gate, rows, features, gate);
    wmma::load_matrix_sync(features, up_proj + feature * hidden + h, hidden);
    wmma::mma_sync(up, rows, features, up);
  }
  wmma::store_matrix_sync(gates, gate, kTile, wmma::mem_row_major);
  wmma::store_matrix_sync(ups, up, kTile, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < kSize; e += 32) {
    const int r = e / kTile, c = e % kTile;
    product[(token + r) * intermediate + feature + c] = __float2half(gelu(gates[e]) * ups[e]);
  }
}

}  // namespace

void gated_wmma(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.intermediate / kTile, shape.tokens / kTile);
  gated_tile<<<grid, 32, 0, stream>>>(x, gate_proj, up_proj, product, shape.hidden,
                                      shape.intermediate);
  CUDA_CHECK(cudaGetLastError());
}
