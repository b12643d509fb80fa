#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"

namespace {

using bf16 = __nv_bfloat16;
constexpr int S = 16;

// Copies the S x S square at (r0, c0) of a matrix to `to`, by one warp; outside there are zeros.
__device__ void fetch(bf16* to, const bf16* from, int r0, int c0, int height, int width) {
  for (int e = threadIdx.x; e < S * S; e += 32) {
    const int r = r0 + e / S, c = c0 + e % S;
    to[e] = r < height && c < width ? from[r * width + c] : __float2bfloat16(0.0f);
  }
}

__global__ void square(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  namespace w = nvcuda::wmma;
  __shared__ alignas(32) bf16 a_part[S * S];
  __shared__ alignas(32) bf16 b_part[S * S];
  __shared__ alignas(32) float c_part[S * S];
  const int i0 = blockIdx.y * S, j0 = blockIdx.x * S;

  w::fragment<w::accumulator, S, S, S, float> acc;
  w::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += S) {
    fetch(a_part, A, i0, k0, M, K);
    fetch(b_part, B, k0, j0, K, N);
    __syncwarp();
    w::fragment<w::matrix_a, S, S, S, bf16, w::row_major> a;
    w::fragment<w::matrix_b, S, S, S, bf16, w::row_major> b;
    w::load_matrix_sync(a, a_part, S);
    w::load_matrix_sync(b, b_part, S);
    w::mma_sync(acc, a, b, acc);
    __syncwarp();
  }
  w::store_matrix_sync(c_part, acc, S, w::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < S * S; e += 32) {
    const int i = i0 + e / S, j = j0 + e % S;
    if (i < M && j < N) C[i * N + j] = c_part[e];
  }
}

}  // namespace

void gemm_wmma(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  const auto squares = [](int length) { return unsigned((length + S - 1) / S); };
  square<<<dim3(squares(N), squares(M)), 32>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
