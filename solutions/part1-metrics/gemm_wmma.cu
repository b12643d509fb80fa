#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: a warp loads fragments, multiplies them, and stores the sums.
namespace {

namespace wmma = nvcuda::wmma;
using bf16 = __nv_bfloat16;

constexpr int kWarpSize = 32;
constexpr int kFragment = 16;  // a tensor core multiplies 16 x 16 by 16 x 16
constexpr int kVector = 8;     // bf16 values in one 16-byte load

// A block computes kRows x kColumns elements of C, and takes kDepth steps along K at a time.
constexpr int kRows = 128;
constexpr int kColumns = 256;
constexpr int kDepth = 32;
constexpr int kPad = 8;  // more elements in each row of a tile, to spread rows over the banks

// A warp computes kWarpTile x kWarpTile of them.
constexpr int kWarpTile = 64;
constexpr int kPerWarp = kWarpTile / kFragment;  // fragments along each side of a warp's tile
constexpr int kWarpsPerRow = kColumns / kWarpTile;
constexpr int kWarps = kRows / kWarpTile * kWarpsPerRow;
constexpr int kThreads = kWarps * kWarpSize;

using FragmentA =
    wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, bf16, wmma::row_major>;
using FragmentB =
    wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, bf16, wmma::row_major>;
using FragmentC = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

// Elements (row, column … column + 7) of a row-major matrix, with zeros beyond its edges: they fill
// tiles up and add nothing to the sums.
__device__ uint4 load8(const bf16* matrix, int rows, int columns, int row, int column) {
  alignas(16) bf16 values[kVector] = {};
  if (row < rows && column < columns) {
    const bf16* from = matrix + row * columns + column;
    if (columns % kVector == 0) return *reinterpret_cast<const uint4*>(from);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if (column + i < columns) values[i] = from[i];
    }
  }
  return *reinterpret_cast<const uint4*>(values);
}

// A thread's share of a tile of R x C elements on its way to shared memory: vectors that it holds
// in registers while the block multiplies the tile before.
template <int R, int C>
class TileShare {
 public:
  // Starts to load its vectors of the tile whose corner is (row0, column0).
  __device__ void load(const bf16* matrix, int rows, int columns, int row0, int column0) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      vectors_[i] = load8(matrix, rows, columns, row0 + row(i), column0 + column(i));
    }
  }

  __device__ void store(bf16 (&tile)[R][C + kPad]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      *reinterpret_cast<uint4*>(&tile[row(i)][column(i)]) = vectors_[i];
    }
  }

 private:
  static constexpr int kPerRow = C / kVector;
  static constexpr int kCount = R * kPerRow / kThreads;
  static_assert(kCount * kThreads == R * kPerRow, "every thread has as many vectors");

  __device__ static int row(int i) { return (i * kThreads + threadIdx.x) / kPerRow; }
  __device__ static int column(int i) { return (i * kThreads + threadIdx.x) % kPerRow * kVector; }

  uint4 vectors_[kCount];
};

struct Tiles {
  bf16 a[kRows][kDepth + kPad];
  bf16 b[kDepth][kColumns + kPad];
};

// While one is multiplied, the next is stored in the other. That is more than the 48 KiB that a
// kernel has without asking.
constexpr int kBuffers = 2;
constexpr int kSharedBytes = kBuffers * sizeof(Tiles);

__global__ void __launch_bounds__(kThreads)
    gemm_wmma_kernel(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  extern __shared__ __align__(32) unsigned char shared[];
  Tiles* const buffers = reinterpret_cast<Tiles*>(shared);
  __shared__ __align__(32) float staging[kWarps][kFragment][kFragment];

  const int warp = threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  const int warp_row = warp / kWarpsPerRow * kWarpTile;  // inside the block's tile
  const int warp_column = warp % kWarpsPerRow * kWarpTile;
  const int row0 = blockIdx.y * kRows;
  const int column0 = blockIdx.x * kColumns;

  FragmentC sum[kPerWarp][kPerWarp];
  for (auto& row_of_sums : sum) {
    for (FragmentC& fragment : row_of_sums) wmma::fill_fragment(fragment, 0.0f);
  }

  TileShare<kRows, kDepth> a_share;
  TileShare<kDepth, kColumns> b_share;
  a_share.load(A, M, K, row0, 0);
  b_share.load(B, K, N, 0, column0);
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    Tiles& tiles = buffers[k0 / kDepth % kBuffers];
    a_share.store(tiles.a);
    b_share.store(tiles.b);
    __syncthreads();  // these tiles are complete, and nobody reads the other ones any more

    // The next tiles are on their way while these are multiplied. Beyond the last there are zeros.
    a_share.load(A, M, K, row0, k0 + kDepth);
    b_share.load(B, K, N, k0 + kDepth, column0);

    for (int k = 0; k < kDepth; k += kFragment) {
      FragmentA a[kPerWarp];
      FragmentB b[kPerWarp];
      for (int i = 0; i < kPerWarp; ++i) {
        wmma::load_matrix_sync(a[i], &tiles.a[warp_row + i * kFragment][k], kDepth + kPad);
        wmma::load_matrix_sync(b[i], &tiles.b[k][warp_column + i * kFragment], kColumns + kPad);
      }
      for (int i = 0; i < kPerWarp; ++i) {
        for (int j = 0; j < kPerWarp; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
      }
    }
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
  CUDA_CHECK(cudaFuncSetAttribute(gemm_wmma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kSharedBytes));
  const dim3 grid(divide_up(N, kColumns), divide_up(M, kRows));
  gemm_wmma_kernel<<<grid, kThreads, kSharedBytes>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
