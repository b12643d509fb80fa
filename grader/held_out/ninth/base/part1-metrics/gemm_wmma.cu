#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"

using namespace nvcuda;

#define S 16

// One warp, one 16 x 16 tile of C. Tiles pass through shared memory, with zeros beyond the edges.
__global__ void wmma_tile(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N,
                          int K) {
  __shared__ __align__(32) __nv_bfloat16 ta[S * S];
  __shared__ __align__(32) __nv_bfloat16 tb[S * S];
  __shared__ __align__(32) float tc[S * S];
  int m0 = blockIdx.y * S, n0 = blockIdx.x * S;
  wmma::fragment<wmma::accumulator, S, S, S, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k0 = 0; k0 < K; k0 += S) {
    for (int e = threadIdx.x; e < S * S; e += 32) {
      int r = e / S, q = e % S;
      ta[e] = m0 + r < M && k0 + q < K ? A[(m0 + r) * K + k0 + q] : __float2bfloat16(0.0f);
      tb[e] = k0 + r < K && n0 + q < N ? B[(k0 + r) * N + n0 + q] : __float2bfloat16(0.0f);
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, S, S, S, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, S, S, S, __nv_bfloat16, wmma::row_major> b;
    wmma::load_matrix_sync(a, ta, S);
    wmma::load_matrix_sync(b, tb, S);
    wmma::mma_sync(c, a, b, c);
    __syncwarp();
  }
  wmma::store_matrix_sync(tc, c, S, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < S * S; e += 32) {
    int r = m0 + e / S, q = n0 + e % S;
    if (r < M && q < N) C[r * N + q] = tc[e];
  }
}

void gemm_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
  dim3 grid((N + S - 1) / S, (M + S - 1) / S);
  wmma_tile<<<grid, 32>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
