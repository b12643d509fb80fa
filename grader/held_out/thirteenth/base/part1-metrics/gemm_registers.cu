#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int kSide = 64;   // of a block's tile of C
constexpr int kDepth = 8;   // of a step along K
constexpr int kEach = 4;    // a thread has kEach x kEach elements
constexpr int kAcross = kSide / kEach;
constexpr int kThreads = kAcross * kAcross;

__global__ void tile_of_c(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a_tile[kDepth][kSide];  // transposed
  __shared__ float b_tile[kDepth][kSide];
  const int row0 = blockIdx.y * kSide, col0 = blockIdx.x * kSide;
  const int ty = threadIdx.x / kAcross, tx = threadIdx.x % kAcross;
  float sums[kEach][kEach] = {};

  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int e = threadIdx.x; e < kSide * kDepth; e += kThreads) {
      const int r = e / kDepth, k = e % kDepth;
      a_tile[k][r] = row0 + r < M && k0 + k < K ? A[(row0 + r) * K + k0 + k] : 0.0f;
    }
    for (int e = threadIdx.x; e < kSide * kDepth; e += kThreads) {
      const int k = e / kSide, c = e % kSide;
      b_tile[k][c] = k0 + k < K && col0 + c < N ? B[(k0 + k) * N + col0 + c] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float a[kEach], b[kEach];
      for (int e = 0; e < kEach; ++e) {
        a[e] = a_tile[k][ty + e * kAcross];
        b[e] = b_tile[k][tx + e * kAcross];
      }
      for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) sums[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }

  for (int i = 0; i < kEach; ++i) {
    const int row = row0 + ty + i * kAcross;
    for (int j = 0; j < kEach; ++j) {
      const int col = col0 + tx + j * kAcross;
      if (row < M && col < N) C[row * N + col] = sums[i][j];
    }
  }
}

}  // namespace

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kSide - 1) / kSide, (M + kSide - 1) / kSide);
  tile_of_c<<<grid, kThreads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
