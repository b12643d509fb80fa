#include "gemm.h"
#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: as gemm_tiled, with a patch of C in registers.
namespace {

constexpr int kTile = 64;                        // a block computes kTile x kTile elements of C
constexpr int kDepth = 16;                       // and takes kDepth steps along K at a time
constexpr int kPatch = 4;                        // a thread computes kPatch x kPatch of them
constexpr int kThreadsPerSide = kTile / kPatch;  // 16 x 16 threads
constexpr int kThreads = kThreadsPerSide * kThreadsPerSide;
static_assert(kTile * kDepth == kThreads * 4, "each thread loads one float4 of each tile");

// Elements (row, column … column + 3) of a row-major matrix, with zeros beyond its edges. A float4
// must lie at a multiple of 16 bytes, which every row does only when it is a multiple of 4 long.
__device__ float4 load4(const float* matrix, int rows, int columns, int row, int column) {
  if (row >= rows) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const float* p = matrix + row * columns + column;
  if (columns % 4 == 0 && column < columns) return *reinterpret_cast<const float4*>(p);
  return make_float4(column + 0 < columns ? p[0] : 0.0f, column + 1 < columns ? p[1] : 0.0f,
                     column + 2 < columns ? p[2] : 0.0f, column + 3 < columns ? p[3] : 0.0f);
}

__global__ void __launch_bounds__(kThreads)
    gemm_registers_kernel(const float* A, const float* B, float* C, int M, int N, int K) {
  // The tile of A lies transposed, so that a thread reads its four rows at one k as one float4.
  // Four columns more than needed spread the transposed stores over the banks.
  __shared__ __align__(16) float As[kDepth][kTile + 4];
  __shared__ __align__(16) float Bs[kDepth][kTile];

  const int row0 = blockIdx.y * kTile;
  const int column0 = blockIdx.x * kTile;

  // What this thread loads: four neighbours along a row of each tile.
  const int a_row = threadIdx.x / (kDepth / 4);
  const int a_k = threadIdx.x % (kDepth / 4) * 4;
  const int b_k = threadIdx.x / (kTile / 4);
  const int b_column = threadIdx.x % (kTile / 4) * 4;

  // What this thread computes.
  const int patch_row = threadIdx.x / kThreadsPerSide * kPatch;
  const int patch_column = threadIdx.x % kThreadsPerSide * kPatch;
  float sum[kPatch][kPatch] = {};

  for (int k0 = 0; k0 < K; k0 += kDepth) {
    const float4 a = load4(A, M, K, row0 + a_row, k0 + a_k);
    const float4 b = load4(B, K, N, k0 + b_k, column0 + b_column);
    As[a_k + 0][a_row] = a.x;
    As[a_k + 1][a_row] = a.y;
    As[a_k + 2][a_row] = a.z;
    As[a_k + 3][a_row] = a.w;
    *reinterpret_cast<float4*>(&Bs[b_k][b_column]) = b;
    __syncthreads();  // the tiles are complete

#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      // Eight values from shared memory serve sixteen multiply-adds.
      const float4 rows = *reinterpret_cast<const float4*>(&As[k][patch_row]);
      const float4 columns = *reinterpret_cast<const float4*>(&Bs[k][patch_column]);
      const float r[kPatch] = {rows.x, rows.y, rows.z, rows.w};
      const float c[kPatch] = {columns.x, columns.y, columns.z, columns.w};
#pragma unroll
      for (int i = 0; i < kPatch; ++i) {
#pragma unroll
        for (int j = 0; j < kPatch; ++j) sum[i][j] += r[i] * c[j];
      }
    }
    __syncthreads();  // nobody needs the tiles any more
  }

#pragma unroll
  for (int i = 0; i < kPatch; ++i) {
    const int row = row0 + patch_row + i;
    const int column = column0 + patch_column;
    if (row >= M) continue;
    float* c = C + row * N + column;
    if (N % 4 == 0 && column < N) {
      *reinterpret_cast<float4*>(c) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    } else {
#pragma unroll
      for (int j = 0; j < kPatch; ++j) {
        if (column + j < N) c[j] = sum[i][j];
      }
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
