#include "gemm.h"
#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: as gemm_tiled, with a patch of C in registers.
namespace {

constexpr int kTile = 128;                       // a block computes kTile x kTile elements of C
constexpr int kDepth = 8;                        // and takes kDepth steps along K at a time
constexpr int kPatch = 8;                        // a thread computes kPatch x kPatch of them
constexpr int kThreadsPerSide = kTile / kPatch;  // 16 x 16 threads
constexpr int kThreads = kThreadsPerSide * kThreadsPerSide;
static_assert(kTile * kDepth == kThreads * 4, "each thread loads one float4 of each tile");

// A thread's rows are two groups of four, half a tile apart, and so are its columns. That way
// neighbouring threads read neighbouring float4s of a tile, which lie in different banks.
constexpr int kHalf = kTile / 2;

// One step's part of A and of B. A's lies transposed, so that a thread reads four of its rows at
// one k as one float4. Four columns more than needed spread the transposed stores over the banks.
struct Tiles {
  float a[kDepth][kTile + 4];
  float b[kDepth][kTile];
};

// Elements (row, column … column + 3) of a row-major matrix, with zeros beyond its edges. A float4
// must lie at a multiple of 16 bytes, which every row does only when it is a multiple of 4 long.
__device__ float4 load4(const float* matrix, int rows, int columns, int row, int column) {
  if (row >= rows || column >= columns) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const float* p = matrix + row * columns + column;
  if (columns % 4 == 0) return *reinterpret_cast<const float4*>(p);
  return make_float4(p[0], column + 1 < columns ? p[1] : 0.0f, column + 2 < columns ? p[2] : 0.0f,
                     column + 3 < columns ? p[3] : 0.0f);
}

// The counterpart of load4: what lies beyond the edges is dropped.
__device__ void store4(float* matrix, int rows, int columns, int row, int column, float4 value) {
  if (row >= rows || column >= columns) return;
  float* p = matrix + row * columns + column;
  if (columns % 4 == 0) {
    *reinterpret_cast<float4*>(p) = value;
  } else {
    p[0] = value.x;
    if (column + 1 < columns) p[1] = value.y;
    if (column + 2 < columns) p[2] = value.z;
    if (column + 3 < columns) p[3] = value.w;
  }
}

// The elements from `first` on and those half a tile further: a thread's rows or columns at one k.
__device__ void read_patch(const float* row_of_tile, int first, float (&values)[kPatch]) {
  *reinterpret_cast<float4*>(values) = *reinterpret_cast<const float4*>(row_of_tile + first);
  *reinterpret_cast<float4*>(values + 4) =
      *reinterpret_cast<const float4*>(row_of_tile + first + kHalf);
}

__global__ void __launch_bounds__(kThreads)
    gemm_registers_kernel(const float* A, const float* B, float* C, int M, int N, int K) {
  // Two of them: while one is multiplied, the next is stored in the other.
  __shared__ __align__(16) Tiles buffers[2];

  const int row0 = blockIdx.y * kTile;
  const int column0 = blockIdx.x * kTile;

  // What this thread loads: four neighbours along a row of each tile.
  const int a_row = threadIdx.x / (kDepth / 4);
  const int a_k = threadIdx.x % (kDepth / 4) * 4;
  const int b_k = threadIdx.x / (kTile / 4);
  const int b_column = threadIdx.x % (kTile / 4) * 4;

  // What this thread computes: these rows and columns of the tile, and those kHalf further.
  const int patch_row = threadIdx.x / kThreadsPerSide * 4;
  const int patch_column = threadIdx.x % kThreadsPerSide * 4;
  float sum[kPatch][kPatch] = {};

  float4 a = load4(A, M, K, row0 + a_row, a_k);
  float4 b = load4(B, K, N, b_k, column0 + b_column);
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    Tiles& tiles = buffers[k0 / kDepth % 2];
    tiles.a[a_k + 0][a_row] = a.x;
    tiles.a[a_k + 1][a_row] = a.y;
    tiles.a[a_k + 2][a_row] = a.z;
    tiles.a[a_k + 3][a_row] = a.w;
    *reinterpret_cast<float4*>(&tiles.b[b_k][b_column]) = b;
    __syncthreads();  // these tiles are complete, and nobody reads the other ones any more

    // The next tiles are on their way while these are multiplied. Beyond the last there are zeros.
    a = load4(A, M, K, row0 + a_row, k0 + kDepth + a_k);
    b = load4(B, K, N, k0 + kDepth + b_k, column0 + b_column);

#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      // Sixteen values from shared memory serve sixty-four multiply-adds.
      alignas(16) float rows[kPatch];
      alignas(16) float columns[kPatch];
      read_patch(tiles.a[k], patch_row, rows);
      read_patch(tiles.b[k], patch_column, columns);
#pragma unroll
      for (int i = 0; i < kPatch; ++i) {
#pragma unroll
        for (int j = 0; j < kPatch; ++j) sum[i][j] += rows[i] * columns[j];
      }
    }
  }

#pragma unroll
  for (int i = 0; i < kPatch; ++i) {
    const int row = row0 + patch_row + i % 4 + i / 4 * kHalf;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = column0 + patch_column + half * kHalf;
      const float* s = sum[i] + half * 4;
      store4(C, M, N, row, column, make_float4(s[0], s[1], s[2], s[3]));
    }
  }
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace
// END SOLUTION

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let each thread of gemm_tiled compute 2 x 2 elements first, then more");
  const dim3 grid(divide_up(N, kTile), divide_up(M, kTile));
  gemm_registers_kernel<<<grid, kThreads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
