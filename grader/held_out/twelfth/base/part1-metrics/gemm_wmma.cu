#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"

using namespace nvcuda;

namespace {

using bf16 = __nv_bfloat16;
constexpr int kWarps = 2;  // of a block: a strip of 32 columns
constexpr int kTile = 16;

__global__ void by_warps(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  __shared__ alignas(32) bf16 a_tile[kTile][kTile];
  __shared__ alignas(32) bf16 b_tile[kTile][kWarps * kTile];
  __shared__ alignas(32) float c_tile[kTile][kWarps * kTile];
  const int warp = threadIdx.y;
  const int rank = threadIdx.y * 32 + threadIdx.x;
  const int top = blockIdx.y * kTile;
  const int left = blockIdx.x * kWarps * kTile;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int from = 0; from < K; from += kTile) {
    for (int e = rank; e < kTile * kTile; e += 32 * kWarps) {
      const int r = e / kTile, k = e % kTile;
      const bool there = top + r < M && from + k < K;
      a_tile[r][k] = there ? A[(top + r) * K + from + k] : __float2bfloat16(0.0f);
    }
    for (int e = rank; e < kTile * kTile * kWarps; e += 32 * kWarps) {
      const int k = e / (kTile * kWarps), c = e % (kTile * kWarps);
      const bool there = from + k < K && left + c < N;
      b_tile[k][c] = there ? B[(from + k) * N + left + c] : __float2bfloat16(0.0f);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> b;
    wmma::load_matrix_sync(a, &a_tile[0][0], kTile);
    wmma::load_matrix_sync(b, &b_tile[0][warp * kTile], kTile * kWarps);
    wmma::mma_sync(sums, a, b, sums);
    __syncthreads();
  }

  wmma::store_matrix_sync(&c_tile[0][warp * kTile], sums, kTile * kWarps, wmma::mem_row_major);
  __syncthreads();
  for (int e = rank; e < kTile * kTile * kWarps; e += 32 * kWarps) {
    const int r = e / (kTile * kWarps), c = e % (kTile * kWarps);
    if (top + r < M && left + c < N) C[(top + r) * N + left + c] = c_tile[r][c];
  }
}

}  // namespace

void gemm_wmma(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  const dim3 grid((N - 1) / (kWarps * kTile) + 1, (M - 1) / kTile + 1);
  by_warps<<<grid, dim3(32, kWarps)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
