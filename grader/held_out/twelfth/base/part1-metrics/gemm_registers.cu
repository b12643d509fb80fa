#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int kWide = 64;   // columns of a block
constexpr int kTall = 32;   // rows of a block
constexpr int kDepth = 8;
constexpr int kAcross = 4;  // columns of a thread, side by side
constexpr int kDown = 4;    // rows of a thread, kStep apart
constexpr int kStep = kTall / kDown;
constexpr int kThreads = kWide / kAcross * kStep;

__global__ void by_patches(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[kDepth][kTall];  // transposed
  __shared__ float b[kDepth][kWide];
  const int top = blockIdx.y * kTall, left = blockIdx.x * kWide;
  const int x = threadIdx.x % (kWide / kAcross) * kAcross;
  const int y = threadIdx.x / (kWide / kAcross);
  float patch[kDown][kAcross] = {};

  for (int from = 0; from < K; from += kDepth) {
    for (int e = threadIdx.x; e < kTall * kDepth; e += kThreads) {
      const int r = e / kDepth, k = e % kDepth;
      a[k][r] = top + r < M && from + k < K ? A[(top + r) * K + from + k] : 0.0f;
    }
    for (int e = threadIdx.x; e < kWide * kDepth; e += kThreads) {
      const int k = e / kWide, c = e % kWide;
      b[k][c] = left + c < N && from + k < K ? B[(from + k) * N + left + c] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < kDepth; ++k) {
      const float4 across = *reinterpret_cast<const float4*>(&b[k][x]);
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
        const float down = a[k][y + i * kStep];
        patch[i][0] += down * across.x;
        patch[i][1] += down * across.y;
        patch[i][2] += down * across.z;
        patch[i][3] += down * across.w;
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kDown; ++i) {
    const int row = top + y + i * kStep;
    for (int j = 0; j < kAcross; ++j) {
      const int column = left + x + j;
      if (row < M && column < N) C[row * N + column] = patch[i][j];
    }
  }
}

}  // namespace

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kWide - 1) / kWide, (M + kTall - 1) / kTall);
  by_patches<<<grid, kThreads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
