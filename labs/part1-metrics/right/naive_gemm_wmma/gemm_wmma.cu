#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"

using namespace nvcuda;

__global__ void product(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N,
                        int K) {
  __shared__ __nv_bfloat16 a_tile[16 * 16];
  __shared__ __nv_bfloat16 b_tile[16 * 16];
  __shared__ float c_tile[16 * 16];
  const int row = blockIdx.y * 16;
  const int column = blockIdx.x * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < K; k += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      const int r = i / 16;
      const int c = i % 16;
      a_tile[i] = row + r < M && k + c < K ? A[(row + r) * K + k + c] : __float2bfloat16(0.0f);
      b_tile[i] =
          k + r < K && column + c < N ? B[(k + r) * N + column + c] : __float2bfloat16(0.0f);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b;
    wmma::load_matrix_sync(a, a_tile, 16);
    wmma::load_matrix_sync(b, b_tile, 16);
    wmma::mma_sync(sum, a, b, sum);
    __syncthreads();
  }
  wmma::store_matrix_sync(c_tile, sum, 16, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 32) {
    const int r = row + i / 16;
    const int c = column + i % 16;
    if (r < M && c < N) C[r * N + c] = c_tile[i];
  }
}

void gemm_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
  product<<<dim3((N + 15) / 16, (M + 15) / 16), 32>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
