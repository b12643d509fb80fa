#include <cuda_pipeline.h>

#include "gemm.h"
#include "toolkit/check.h"

constexpr int kSide = 64, kDepth = 16;
constexpr int kRows = 8, kColumns = 4;
constexpr int kThreads = kSide / kRows * (kSide / kColumns);  // 128

struct alignas(16) Buffer {
  float a[kDepth][kSide + 4];  // transposed, so that a thread's rows lie side by side
  float b[kDepth][kSide + 4];
};

__device__ void put(float* to, const float* from, bool is_inside) {
  if (is_inside) {
    __pipeline_memcpy_async(to, from, sizeof(float));
  } else {
    *to = 0.0f;
  }
}

__device__ void fill(Buffer& buffer, const float* A, const float* B, int M, int N, int K, int k0) {
  const int top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  for (int i = threadIdx.x; i < kSide * kDepth; i += kThreads) {
    const int r = i / kDepth, k = i % kDepth;
    put(&buffer.a[k][r], A + (top + r) * K + k0 + k, top + r < M && k0 + k < K);
  }
  for (int i = threadIdx.x; i < kDepth * kSide; i += kThreads) {
    const int k = i / kSide, c = i % kSide;
    put(&buffer.b[k][c], B + (k0 + k) * N + left + c, k0 + k < K && left + c < N);
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(kThreads)
    patches(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ Buffer buffers[2];
  const int x = threadIdx.x % (kSide / kColumns) * kColumns;
  const int y = threadIdx.x / (kSide / kColumns) * kRows;
  float sums[kRows][kColumns] = {};
  fill(buffers[0], A, B, M, N, K, 0);
  for (int k0 = 0, turn = 0; k0 < K; k0 += kDepth, turn ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + kDepth < K) fill(buffers[turn ^ 1], A, B, M, N, K, k0 + kDepth);
    const Buffer& now = buffers[turn];
#pragma unroll 4
    for (int k = 0; k < kDepth; ++k) {
      float a[kRows];
      *reinterpret_cast<float4*>(a) = *reinterpret_cast<const float4*>(&now.a[k][y]);
      *reinterpret_cast<float4*>(a + 4) = *reinterpret_cast<const float4*>(&now.a[k][y + 4]);
      const float4 b = *reinterpret_cast<const float4*>(&now.b[k][x]);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        sums[i][0] += a[i] * b.x;
        sums[i][1] += a[i] * b.y;
        sums[i][2] += a[i] * b.z;
        sums[i][3] += a[i] * b.w;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int row = blockIdx.y * kSide + y + i;
    if (row >= M) return;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const int column = blockIdx.x * kSide + x + j;
      if (column < N) C[row * N + column] = sums[i][j];
    }
  }
}

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  patches<<<dim3((N + kSide - 1) / kSide, (M + kSide - 1) / kSide), kThreads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
