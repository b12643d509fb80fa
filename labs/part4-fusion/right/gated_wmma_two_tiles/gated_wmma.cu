#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

using namespace nvcuda::wmma;

constexpr int kWarps = 4;

__global__ void __launch_bounds__(kWarps* kWarpSize)
    tile_of_a_warp(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                   MlpShape shape) {
  __shared__ __align__(128) float sums[kWarps][2][256];
  const int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  const int across = shape.intermediate / 16;
  const int tile = blockIdx.x * kWarps + warp;
  if (tile >= across * (shape.tokens / 16)) return;
  const int token0 = tile / across * 16, feature0 = tile % across * 16;
  const __half* from = x + token0 * shape.hidden;
  const __half* weights[2] = {gate_proj + feature0 * shape.hidden,
                              up_proj + feature0 * shape.hidden};
  fragment<accumulator, 16, 16, 16, float> sum[2];
  for (auto& each : sum) fill_fragment(each, 0.0f);
  for (int k = 0; k < shape.hidden; k += 16, from += 16) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    load_matrix_sync(a, from, shape.hidden);
#pragma unroll
    for (int i = 0; i < 2; ++i, weights[i - 1] += 16) {
      fragment<matrix_b, 16, 16, 16, __half, col_major> b;
      load_matrix_sync(b, weights[i], shape.hidden);
      mma_sync(sum[i], a, b, sum[i]);
    }
  }
  for (int i = 0; i < 2; ++i) store_matrix_sync(sums[warp][i], sum[i], 16, mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += kWarpSize) {
    product[(token0 + i / 16) * shape.intermediate + feature0 + i % 16] =
        __float2half_rn(gelu(sums[warp][0][i]) * sums[warp][1][i]);
  }
}

void gated_wmma(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                const MlpShape& shape, cudaStream_t stream) {
  const int tiles = shape.tokens / 16 * (shape.intermediate / 16);
  tile_of_a_warp<<<divide_up(tiles, kWarps), kWarps * kWarpSize, 0, stream>>>(x, gate_proj, up_proj,
                                                                              product, shape);
  CUDA_CHECK(cudaGetLastError());
}
