#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: a warp loads fragments, multiplies them, and stores the sums.
namespace {

namespace wmma = nvcuda::wmma;
using bf16 = __nv_bfloat16;

constexpr int kFragment = 16;  // a tensor core multiplies 16 x 16 by 16 x 16
constexpr int kTile = 64;      // a block computes kTile x kTile elements of C
constexpr int kDepth = 32;     // and takes kDepth steps along K at a time
constexpr int kPad = 8;        // more elements in each row of a tile, to spread rows over the banks
constexpr int kWarpTile = 32;  // a warp computes kWarpTile x kWarpTile of the block's tile
constexpr int kWarpsPerSide = kTile / kWarpTile;
constexpr int kPerWarp = kWarpTile / kFragment;  // fragments along each side of a warp's tile
constexpr int kWarpSize = 32;
constexpr int kThreads = kWarpsPerSide * kWarpsPerSide * kWarpSize;
constexpr int kVector = 8;  // bf16 values in one 16-byte load

using FragmentA =
    wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, bf16, wmma::row_major>;
using FragmentB =
    wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, bf16, wmma::row_major>;
using FragmentC = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

// All threads of the block copy the part of `matrix` that starts at (row0, column0) into `tile`,
// with zeros beyond the edges of the matrix: they fill the tile up and add nothing to the sums.
template <int kRows, int kColumns>
__device__ void load_tile(const bf16* matrix, int rows, int columns, int row0, int column0,
                          bf16 (&tile)[kRows][kColumns + kPad]) {
  constexpr int kVectorsPerRow = kColumns / kVector;
  for (int i = threadIdx.x; i < kRows * kVectorsPerRow; i += kThreads) {
    const int tile_row = i / kVectorsPerRow;
    const int tile_column = i % kVectorsPerRow * kVector;
    const int row = row0 + tile_row;
    const int column = column0 + tile_column;
    const bf16* from = matrix + row * columns + column;
    bf16* to = &tile[tile_row][tile_column];

    if (row < rows && column < columns && columns % kVector == 0) {
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
    } else {
      for (int j = 0; j < kVector; ++j) {
        to[j] = row < rows && column + j < columns ? from[j] : __float2bfloat16(0.0f);
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    gemm_wmma_kernel(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  __shared__ __align__(32) bf16 As[kTile][kDepth + kPad];
  __shared__ __align__(32) bf16 Bs[kDepth][kTile + kPad];
  __shared__ __align__(32) float staging[kThreads / kWarpSize][kFragment][kFragment];

  const int warp = threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  const int warp_row = warp / kWarpsPerSide * kWarpTile;  // inside the block's tile
  const int warp_column = warp % kWarpsPerSide * kWarpTile;
  const int row0 = blockIdx.y * kTile;
  const int column0 = blockIdx.x * kTile;

  FragmentC sum[kPerWarp][kPerWarp];
  for (auto& row_of_sums : sum) {
    for (FragmentC& fragment : row_of_sums) wmma::fill_fragment(fragment, 0.0f);
  }

  for (int k0 = 0; k0 < K; k0 += kDepth) {
    load_tile<kTile, kDepth>(A, M, K, row0, k0, As);
    load_tile<kDepth, kTile>(B, K, N, k0, column0, Bs);
    __syncthreads();  // the tiles are complete

    for (int k = 0; k < kDepth; k += kFragment) {
      FragmentA a[kPerWarp];
      FragmentB b[kPerWarp];
      for (int i = 0; i < kPerWarp; ++i) {
        wmma::load_matrix_sync(a[i], &As[warp_row + i * kFragment][k], kDepth + kPad);
        wmma::load_matrix_sync(b[i], &Bs[k][warp_column + i * kFragment], kTile + kPad);
      }
      for (int i = 0; i < kPerWarp; ++i) {
        for (int j = 0; j < kPerWarp; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
      }
    }
    __syncthreads();  // nobody needs the tiles any more
  }

  // How a fragment spreads over the lanes is not specified, so it goes through shared memory, from
  // where each lane writes the elements that lie inside C.
  for (int i = 0; i < kPerWarp; ++i) {
    for (int j = 0; j < kPerWarp; ++j) {
      wmma::store_matrix_sync(&staging[warp][0][0], sum[i][j], kFragment, wmma::mem_row_major);
      __syncwarp();
      for (int e = lane; e < kFragment * kFragment; e += kWarpSize) {
        const int row = row0 + warp_row + i * kFragment + e / kFragment;
        const int column = column0 + warp_column + j * kFragment + e % kFragment;
        const float value = staging[warp][e / kFragment][e % kFragment];
        if (row < M && column < N) C[row * N + column] = value;
      }
      __syncwarp();
    }
  }
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace
// END SOLUTION

void gemm_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let one warp compute one 16 x 16 tile of C, for sizes that 16 divides, first");
  const dim3 grid(divide_up(N, kTile), divide_up(M, kTile));
  gemm_wmma_kernel<<<grid, kThreads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
