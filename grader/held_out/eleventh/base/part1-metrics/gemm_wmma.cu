#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kPiece = 16;
constexpr int kWarps = 2;  // of a block, one below the other

// Each warp makes one 16 x 16 piece of C; its tiles lie in shared memory, with zeros at the edges.
__global__ void pieces_of_c(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N,
                            int K) {
  __shared__ __align__(32) __nv_bfloat16 from_a[kWarps][kPiece * kPiece];
  __shared__ __align__(32) __nv_bfloat16 from_b[kPiece * kPiece];
  __shared__ __align__(32) float to_c[kWarps][kPiece * kPiece];
  const int lane = threadIdx.x;
  const int warp = threadIdx.y;
  const int top = (blockIdx.y * kWarps + warp) * kPiece;
  const int left = blockIdx.x * kPiece;
  const __nv_bfloat16 zero = __float2bfloat16(0.0f);

  wmma::fragment<wmma::accumulator, kPiece, kPiece, kPiece, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int k0 = 0; k0 < K; k0 += kPiece) {
    for (int e = lane; e < kPiece * kPiece; e += 32) {
      const int row = top + e / kPiece, k = k0 + e % kPiece;
      from_a[warp][e] = row < M && k < K ? A[row * K + k] : zero;
    }
    for (int e = warp * 32 + lane; e < kPiece * kPiece; e += 32 * kWarps) {
      const int k = k0 + e / kPiece, column = left + e % kPiece;
      from_b[e] = k < K && column < N ? B[k * N + column] : zero;
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, kPiece, kPiece, kPiece, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, kPiece, kPiece, kPiece, __nv_bfloat16, wmma::row_major> b;
    wmma::load_matrix_sync(a, from_a[warp], kPiece);
    wmma::load_matrix_sync(b, from_b, kPiece);
    wmma::mma_sync(sums, a, b, sums);
    __syncthreads();
  }
  wmma::store_matrix_sync(to_c[warp], sums, kPiece, wmma::mem_row_major);
  __syncwarp();
  for (int e = lane; e < kPiece * kPiece; e += 32) {
    const int row = top + e / kPiece, column = left + e % kPiece;
    if (row < M && column < N) C[row * N + column] = to_c[warp][e];
  }
}

}  // namespace

void gemm_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
  const int high = kWarps * kPiece;
  const dim3 grid((N + kPiece - 1) / kPiece, (M + high - 1) / high);
  pieces_of_c<<<grid, dim3(32, kWarps)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
