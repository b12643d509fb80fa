#include "gemm.h"
#include "toolkit/check.h"

namespace {
constexpr int BM = 32;  // rows of the tile of C
constexpr int BN = 32;  // columns of it
constexpr int BK = 8;   // depth of one step

// 32 x 8 threads: each has a column of the tile and four rows, 8 apart.
__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[BM][BK];
  __shared__ float Bs[BK][BN];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int linear = ty * 32 + tx;
  const int row0 = blockIdx.y * BM;
  const int col = blockIdx.x * BN + tx;
  float sums[4] = {0.f, 0.f, 0.f, 0.f};
  for (int k0 = 0; k0 < K; k0 += BK) {
    const int ar = linear / BK, ak = linear % BK;
    if (row0 + ar < M && k0 + ak < K) {
      As[ar][ak] = A[(row0 + ar) * K + k0 + ak];
    } else {
      As[ar][ak] = 0.f;
    }
    if (k0 + ty < K && col < N) {
      Bs[ty][tx] = B[(k0 + ty) * N + col];
    } else {
      Bs[ty][tx] = 0.f;
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      const float b = Bs[k][tx];
      for (int r = 0; r < 4; ++r) sums[r] += As[ty + 8 * r][k] * b;
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) {
    const int row = row0 + ty + 8 * r;
    if (row < M && col < N) C[row * N + col] = sums[r];
  }
}
}  // namespace

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM);
  tiled<<<grid, dim3(32, 8)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
