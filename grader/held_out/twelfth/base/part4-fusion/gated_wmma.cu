#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

using namespace nvcuda;

namespace {

__global__ void gated_tile(const __half* x, const __half* gate_proj, const __half* up_proj,
                           __half* product, MlpShape shape) {
  const int feature = blockIdx.x * 16, token = blockIdx.y * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> gate, up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> rows;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> columns;
  const __half* row = x + token * shape.hidden;
  const __half* gate_row = gate_proj + feature * shape.hidden;
  const __half* up_row = up_proj + feature * shape.hidden;
  for (int k = 0; k < shape.hidden; k += 16) {
    wmma::load_matrix_sync(rows, row + k, shape.hidden);
    wmma::load_matrix_sync(columns, gate_row + k, shape.hidden);
    wmma::mma_sync(gate, rows, columns, gate);
    wmma::load_matrix_sync(columns, up_row + k, shape.hidden);
    wmma::mma_sync(up, rows, columns, up);
  }
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> result;
  for (int i = 0; i < result.num_elements; ++i) {
    result.x[i] = __float2half(gelu(gate.x[i]) * up.x[i]);
  }
  wmma::store_matrix_sync(product + token * shape.intermediate + feature, result,
                          shape.intermediate, wmma::mem_row_major);
}

}  // namespace

void gated_wmma(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.intermediate / 16, shape.tokens / 16);
  gated_tile<<<grid, 32, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
