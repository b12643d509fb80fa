#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"

using namespace nvcuda;
using bf16 = __nv_bfloat16;

constexpr int kRows = 64, kColumns = 32, kDepth = 32, kPad = 8;
constexpr int kWarps = 8;  // 2 down, 4 across

__global__ void tall_fragments(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  __shared__ __align__(32) bf16 a[kRows][kDepth + kPad];
  __shared__ __align__(32) bf16 b[kDepth][kColumns + kPad];
  __shared__ __align__(32) float c[kRows][kColumns + kPad];
  const int warp = threadIdx.x / 32;
  const int r = warp / 4 * 32, col = warp % 4 * 8;
  const int top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  const bf16 zero = __float2bfloat16(0.0f);
  wmma::fragment<wmma::accumulator, 32, 8, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int i = threadIdx.x; i < kRows * kDepth; i += blockDim.x) {
      const int row = top + i / kDepth, k = k0 + i % kDepth;
      a[i / kDepth][i % kDepth] = row < M && k < K ? A[row * K + k] : zero;
    }
    for (int i = threadIdx.x; i < kDepth * kColumns; i += blockDim.x) {
      const int k = k0 + i / kColumns, column = left + i % kColumns;
      b[i / kColumns][i % kColumns] = k < K && column < N ? B[k * N + column] : zero;
    }
    __syncthreads();
    for (int k = 0; k < kDepth; k += 16) {
      wmma::fragment<wmma::matrix_a, 32, 8, 16, bf16, wmma::row_major> fa;
      wmma::fragment<wmma::matrix_b, 32, 8, 16, bf16, wmma::row_major> fb;
      wmma::load_matrix_sync(fa, &a[r][k], kDepth + kPad);
      wmma::load_matrix_sync(fb, &b[k][col], kColumns + kPad);
      wmma::mma_sync(sums, fa, fb, sums);
    }
    __syncthreads();
  }
  wmma::store_matrix_sync(&c[r][col], sums, kColumns + kPad, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < kRows * kColumns; i += blockDim.x) {
    const int row = top + i / kColumns, column = left + i % kColumns;
    if (row >= M) return;
    if (column < N) C[row * N + column] = c[i / kColumns][i % kColumns];
  }
}

void gemm_wmma(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kColumns - 1) / kColumns, (M + kRows - 1) / kRows);
  tall_fragments<<<grid, 32 * kWarps>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
