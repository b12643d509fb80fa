#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

using namespace nvcuda;

// One warp, one block, one tile of 16 tokens and 16 features.
__global__ void tile_product(const __half* x, const __half* gate_proj, const __half* up_proj,
                             __half* product, MlpShape shape) {
  __shared__ float gate_tile[16 * 16];
  __shared__ float up_tile[16 * 16];
  const int token = blockIdx.y * 16;
  const int feature = blockIdx.x * 16;

  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> rows;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> weights;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> gate;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  for (int h = 0; h < shape.hidden; h += 16) {
    wmma::load_matrix_sync(rows, x + token * shape.hidden + h, shape.hidden);
    wmma::load_matrix_sync(weights, gate_proj + feature * shape.hidden + h, shape.hidden);
    wmma::mma_sync(gate, rows, weights, gate);
    wmma::load_matrix_sync(weights, up_proj + feature * shape.hidden + h, shape.hidden);
    wmma::mma_sync(up, rows, weights, up);
  }

  wmma::store_matrix_sync(gate_tile, gate, 16, wmma::mem_row_major);
  wmma::store_matrix_sync(up_tile, up, 16, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < 256; e += 32) {
    const int at = (token + e / 16) * shape.intermediate + feature + e % 16;
    product[at] = __float2half(gelu(gate_tile[e]) * up_tile[e]);
  }
}

void gated_wmma(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.intermediate / 16, shape.tokens / 16);
  tile_product<<<grid, 32, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
