#include <mma.h>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: gated_wmma with its tiles in shared memory, padded with zeros.
namespace {

namespace wmma = nvcuda::wmma;

constexpr int kFragment = 16;
constexpr int kTile = 64;      // a block computes kTile tokens x kTile features
constexpr int kDepth = 64;     // and takes kDepth steps along hidden at a time
constexpr int kWarpTile = 32;  // a warp computes kWarpTile x kWarpTile of the block's tile
constexpr int kWarpsAcross = kTile / kWarpTile;
constexpr int kWarps = kWarpsAcross * kWarpsAcross;
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kPerWarp = kWarpTile / kFragment;  // fragments along each side of a warp's tile
constexpr int kVector = rooflab::kVectorSize<__half>;
constexpr int kRow = kDepth + kVector;  // padded: rows begin in different banks

using FragmentX =
    wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, wmma::row_major>;
using FragmentWeight =
    wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, wmma::col_major>;
using FragmentSum = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

using Tile = __half[kTile][kRow];
using WarpSums = FragmentSum[kPerWarp][kPerWarp];

// All threads of the block copy the part of `matrix` (rows, columns) that begins at (row0,
// column0). What lies beyond its edges becomes 0, which adds nothing to a sum.
__device__ void load_tile(const __half* matrix, int rows, int columns, int row0, int column0,
                          Tile& tile) {
  const bool inside = row0 + kTile <= rows && column0 + kDepth <= columns;
  if (inside && columns % kVector == 0) {
    constexpr int kPerRow = kDepth / kVector;
#pragma unroll  // without a branch in between, all loads of a thread are under way at once
    for (int i = 0; i < kTile * kPerRow / kThreads; ++i) {
      const int place = i * kThreads + threadIdx.x;
      const int row = place / kPerRow, column = place % kPerRow * kVector;
      const __half* from = matrix + (row0 + row) * columns + column0 + column;
      *reinterpret_cast<uint4*>(&tile[row][column]) = *reinterpret_cast<const uint4*>(from);
    }
    return;
  }
  for (int place = threadIdx.x; place < kTile * kDepth; place += kThreads) {
    const int row = place / kDepth, column = place % kDepth;
    const bool exists = row0 + row < rows && column0 + column < columns;
    tile[row][column] =
        exists ? matrix[(row0 + row) * columns + column0 + column] : __float2half(0.0f);
  }
}

// gate += x gate_proj^T and up += x up_proj^T, of the warp's tokens and features over one tile's
// depth. What is loaded of x serves both sums of all features.
__device__ void multiply_tiles(const Tile& x, const Tile& gate_proj, const Tile& up_proj, int token,
                               int feature, WarpSums& gate, WarpSums& up) {
  for (int k = 0; k < kDepth; k += kFragment) {
    FragmentX rows[kPerWarp];
    for (int i = 0; i < kPerWarp; ++i) {
      wmma::load_matrix_sync(rows[i], &x[token + i * kFragment][k], kRow);
    }
    for (int j = 0; j < kPerWarp; ++j) {
      FragmentWeight gate_columns, up_columns;
      wmma::load_matrix_sync(gate_columns, &gate_proj[feature + j * kFragment][k], kRow);
      wmma::load_matrix_sync(up_columns, &up_proj[feature + j * kFragment][k], kRow);
      for (int i = 0; i < kPerWarp; ++i) {
        wmma::mma_sync(gate[i][j], rows[i], gate_columns, gate[i][j]);
        wmma::mma_sync(up[i][j], rows[i], up_columns, up[i][j]);
      }
    }
  }
}

// Stores gelu(gate) * up from (token0, feature0) on, as far as product reaches. As in gated_wmma,
// it goes through shared memory, of which each warp has a part.
__device__ void store_product(FragmentSum& gate, const FragmentSum& up, int token0, int feature0,
                              const MlpShape& shape, __half* product) {
  __shared__ __align__(32) float staging[kWarps][kFragment][kFragment];
  auto& tile = staging[threadIdx.x / kWarpSize];
  for (int e = 0; e < gate.num_elements; ++e) gate.x[e] = gelu(gate.x[e]) * up.x[e];
  __syncwarp();  // nobody reads the fragment before any more
  wmma::store_matrix_sync(&tile[0][0], gate, kFragment, wmma::mem_row_major);
  __syncwarp();  // the fragment is complete

  // Each lane stores half a row.
  const int lane = threadIdx.x % kWarpSize;
  const int row = lane / 2, column = lane % 2 * kVector;
  const int token = token0 + row, feature = feature0 + column;
  float values[kVector];
  for (int v = 0; v < kVector; ++v) values[v] = tile[row][column + v];
  if (token < shape.tokens) {
    rooflab::store(product + static_cast<size_t>(token) * shape.intermediate + feature,
                   shape.intermediate - feature, values);
  }
}

__global__ void __launch_bounds__(kThreads)
    gated_ragged_kernel(const __half* x, const __half* gate_proj, const __half* up_proj,
                        __half* product, MlpShape shape) {
  __shared__ __align__(32) Tile x_tile, gate_tile, up_tile;
  const int warp = threadIdx.x / kWarpSize;
  const int warp_token = warp / kWarpsAcross * kWarpTile;  // inside the block's tile
  const int warp_feature = warp % kWarpsAcross * kWarpTile;
  const int tiles_across = divide_up(shape.intermediate, kTile);
  const int token0 = blockIdx.x / tiles_across * kTile;
  const int feature0 = blockIdx.x % tiles_across * kTile;

  WarpSums gate, up;
  for (int i = 0; i < kPerWarp; ++i) {
    for (int j = 0; j < kPerWarp; ++j) {
      wmma::fill_fragment(gate[i][j], 0.0f);
      wmma::fill_fragment(up[i][j], 0.0f);
    }
  }
  for (int k0 = 0; k0 < shape.hidden; k0 += kDepth) {
    load_tile(x, shape.tokens, shape.hidden, token0, k0, x_tile);
    load_tile(gate_proj, shape.intermediate, shape.hidden, feature0, k0, gate_tile);
    load_tile(up_proj, shape.intermediate, shape.hidden, feature0, k0, up_tile);
    __syncthreads();  // the tiles are complete
    multiply_tiles(x_tile, gate_tile, up_tile, warp_token, warp_feature, gate, up);
    __syncthreads();  // nobody needs the tiles any more
  }
#pragma unroll  // an array that is indexed by constants alone stays in registers
  for (int i = 0; i < kPerWarp; ++i) {
#pragma unroll
    for (int j = 0; j < kPerWarp; ++j) {
      store_product(gate[i][j], up[i][j], token0 + warp_token + i * kFragment,
                    feature0 + warp_feature + j * kFragment, shape, product);
    }
  }
}

}  // namespace
// END SOLUTION

void gated_ragged(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                  const MlpShape& shape, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("copy each tile to shared memory first, with zeros beyond the edges");
  const int tiles = divide_up(shape.tokens, kTile) * divide_up(shape.intermediate, kTile);
  gated_ragged_kernel<<<tiles, kThreads, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
