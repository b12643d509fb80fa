#include "gemm_wmma.h"

#include <mma.h>

#include "toolkit/check.h"

namespace {

namespace wmma = nvcuda::wmma;
using bf16 = __nv_bfloat16;

constexpr int kWarpSize = 32;
constexpr int kFragment = 16;

// Loads the fragment whose corner is (row, column); by way of `tile` where it sticks out.
template <typename Fragment>
__device__ void load(Fragment& fragment, const bf16* matrix, int rows, int columns, int row,
                     int column, bf16 (&tile)[kFragment][kFragment]) {
  if (row + kFragment <= rows && column + kFragment <= columns) {
    wmma::load_matrix_sync(fragment, matrix + row * columns + column, columns);
    return;
  }
  __syncwarp();
  for (int e = threadIdx.x; e < kFragment * kFragment; e += kWarpSize) {
    const int r = row + e / kFragment;
    const int c = column + e % kFragment;
    tile[e / kFragment][e % kFragment] =
        r < rows && c < columns ? matrix[r * columns + c] : __float2bfloat16(0.0f);
  }
  __syncwarp();
  wmma::load_matrix_sync(fragment, &tile[0][0], kFragment);
}

__global__ void gemm_wmma_kernel(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  __shared__ __align__(32) bf16 tile[kFragment][kFragment];
  __shared__ __align__(32) float sums[kFragment][kFragment];
  const int row = blockIdx.y * kFragment;
  const int column = blockIdx.x * kFragment;

  wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < K; k += kFragment) {
    wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, bf16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, bf16, wmma::row_major> b;
    load(a, A, M, K, row, k, tile);
    load(b, B, K, N, k, column, tile);
    wmma::mma_sync(sum, a, b, sum);
  }
  wmma::store_matrix_sync(&sums[0][0], sum, kFragment, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < kFragment * kFragment; e += kWarpSize) {
    const int r = row + e / kFragment;
    const int c = column + e % kFragment;
    if (r < M && c < N) C[r * N + c] = sums[e / kFragment][e % kFragment];
  }
}

}  // namespace

void gemm_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kFragment - 1) / kFragment, (M + kFragment - 1) / kFragment);
  gemm_wmma_kernel<<<grid, kWarpSize>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
