#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

using namespace nvcuda;

__device__ void stage(const __half* matrix, int rows, int columns, int row0, int column0,
                      __half* to) {
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += kWarpSize) {
    const long long row = row0 + i / 16, column = column0 + i % 16;
    to[i] = row < rows && column < columns ? matrix[row * columns + column] : __half(0.0f);
  }
  __syncwarp();
}

__global__ void one_warp(const __half* x, const __half* gate_proj, const __half* up_proj,
                         __half* product, MlpShape s) {
  __shared__ __align__(128) __half staged[256];
  __shared__ __align__(128) float result[256];
  const int across = divide_up(s.intermediate, 16);
  const int token0 = blockIdx.x / across * 16, feature0 = blockIdx.x % across * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> gate, up;
  wmma::fill_fragment(gate, 0.0f);
  wmma::fill_fragment(up, 0.0f);
  for (int k = 0; k < s.hidden; k += 16) {
    stage(x, s.tokens, s.hidden, token0, k, staged);
    wmma::load_matrix_sync(a, staged, 16);
    stage(gate_proj, s.intermediate, s.hidden, feature0, k, staged);
    wmma::load_matrix_sync(b, staged, 16);
    wmma::mma_sync(gate, a, b, gate);
    stage(up_proj, s.intermediate, s.hidden, feature0, k, staged);
    wmma::load_matrix_sync(b, staged, 16);
    wmma::mma_sync(up, a, b, up);
  }
  for (int e = 0; e < gate.num_elements; ++e) gate.x[e] = gelu(gate.x[e]) * up.x[e];
  wmma::store_matrix_sync(result, gate, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += kWarpSize) {
    const long long token = token0 + i / 16, feature = feature0 + i % 16;
    if (token < s.tokens && feature < s.intermediate) {
      product[token * s.intermediate + feature] = __float2half(result[i]);
    }
  }
}

void gated_ragged(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const int tiles = divide_up(shape.tokens, 16) * divide_up(shape.intermediate, 16);
  one_warp<<<tiles, kWarpSize, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}
