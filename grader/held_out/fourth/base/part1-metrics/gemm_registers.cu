#include "gemm.h"
#include "toolkit/check.h"

namespace {

// 64 threads for a piece of 32 x 32 elements: a thread has four rows of four columns, and these lie
// eight apart, so that neighbouring threads touch neighbouring words.
constexpr int kSide = 32;
constexpr int kDepth = 8;
constexpr int kMine = 4;
constexpr int kApart = kSide / kMine;

__global__ void patches(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a_tile[kDepth][kSide + 1];  // transposed: a_tile[k][row]
  __shared__ float b_tile[kDepth][kSide];
  const int x = threadIdx.x, y = threadIdx.y;
  const int me = y * kApart + x;
  const int row0 = blockIdx.y * kSide, column0 = blockIdx.x * kSide;

  float patch[kMine][kMine] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int t = me; t < kSide * kDepth; t += kApart * kApart) {
      const int k = k0 + t % kDepth, i = row0 + t / kDepth;
      a_tile[t % kDepth][t / kDepth] = i < M && k < K ? A[i * K + k] : 0.0f;
    }
    for (int t = me; t < kSide * kDepth; t += kApart * kApart) {
      const int k = k0 + t / kSide, j = column0 + t % kSide;
      b_tile[t / kSide][t % kSide] = k < K && j < N ? B[k * N + j] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < kDepth; ++k) {
      float across[kMine];
      for (int j = 0; j < kMine; ++j) across[j] = b_tile[k][x + j * kApart];
      for (int i = 0; i < kMine; ++i) {
        const float down = a_tile[k][y + i * kApart];
        for (int j = 0; j < kMine; ++j) patch[i][j] += down * across[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < kMine; ++i) {
    const int row = row0 + y + i * kApart;
    for (int j = 0; j < kMine; ++j) {
      const int column = column0 + x + j * kApart;
      if (row < M && column < N) C[row * N + column] = patch[i][j];
    }
  }
}

}  // namespace

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kSide - 1) / kSide, (M + kSide - 1) / kSide);
  patches<<<grid, dim3(kApart, kApart)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
