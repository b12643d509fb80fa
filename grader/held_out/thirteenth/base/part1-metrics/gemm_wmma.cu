#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kEdge = 16;
constexpr int kDown = 2, kAcross = 2;  // tiles of a block, a warp for each
constexpr int kThreads = 32 * kDown * kAcross;
constexpr int kRows = kDown * kEdge, kColumns = kAcross * kEdge;

__global__ void multiply(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N,
                         int K) {
  __shared__ __align__(32) __nv_bfloat16 a_piece[kRows][kEdge];
  __shared__ __align__(32) __nv_bfloat16 b_piece[kEdge][kColumns];
  __shared__ __align__(32) float c_piece[kRows][kColumns];
  const int top = blockIdx.y * kRows, begin = blockIdx.x * kColumns;
  const int warp = threadIdx.x / 32;
  const int down = warp / kAcross * kEdge, across = warp % kAcross * kEdge;
  const __nv_bfloat16 zero = __float2bfloat16(0.0f);

  wmma::fragment<wmma::accumulator, kEdge, kEdge, kEdge, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int k0 = 0; k0 < K; k0 += kEdge) {
    for (int t = threadIdx.x; t < kRows * kEdge; t += kThreads) {
      const int r = t / kEdge, k = t % kEdge;
      const bool exists = top + r < M && k0 + k < K;
      a_piece[r][k] = exists ? A[(top + r) * K + k0 + k] : zero;
    }
    for (int t = threadIdx.x; t < kEdge * kColumns; t += kThreads) {
      const int k = t / kColumns, c = t % kColumns;
      const bool exists = k0 + k < K && begin + c < N;
      b_piece[k][c] = exists ? B[(k0 + k) * N + begin + c] : zero;
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, kEdge, kEdge, kEdge, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, kEdge, kEdge, kEdge, __nv_bfloat16, wmma::row_major> b;
    wmma::load_matrix_sync(a, &a_piece[down][0], kEdge);
    wmma::load_matrix_sync(b, &b_piece[0][across], kColumns);
    wmma::mma_sync(sums, a, b, sums);
    __syncthreads();
  }

  wmma::store_matrix_sync(&c_piece[down][across], sums, kColumns, wmma::mem_row_major);
  __syncthreads();
  for (int t = threadIdx.x; t < kRows * kColumns; t += kThreads) {
    const int r = top + t / kColumns, c = begin + t % kColumns;
    if (r < M && c < N) C[r * N + c] = c_piece[t / kColumns][t % kColumns];
  }
}

}  // namespace

void gemm_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kColumns - 1) / kColumns, (M + kRows - 1) / kRows);
  multiply<<<grid, kThreads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
