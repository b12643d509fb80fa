#include <cuda/barrier>

#include "gemm.h"
#include "toolkit/check.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kSide = 64, kDepth = 16, kBuffers = 2;
constexpr int kEach = 128;  // threads that load, and as many that multiply: 8 x 4 sums each
constexpr int kRow = kSide + 1;

struct Buffer {
  float a[kDepth][kRow];
  float b[kDepth][kRow];
};

__global__ void __launch_bounds__(2 * kEach)
    two_roles(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ Buffer buffers[kBuffers];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full[kBuffers], empty[kBuffers];
  if (threadIdx.x < kBuffers) {
    init(&full[threadIdx.x], 2 * kEach);
    init(&empty[threadIdx.x], 2 * kEach);
  }
  __syncthreads();
  const int top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  const int steps = (K + kDepth - 1) / kDepth;

  if (threadIdx.x < kEach) {
    for (int step = 0; step < steps; ++step) {
      const int which = step % kBuffers, k0 = step * kDepth;
      if (step >= kBuffers) empty[which].arrive_and_wait();
      Buffer& buffer = buffers[which];
      for (int i = threadIdx.x; i < kSide * kDepth; i += kEach) {
        const int row = top + i / kDepth, ka = k0 + i % kDepth;
        const int kb = k0 + i / kSide, column = left + i % kSide;
        buffer.a[i % kDepth][i / kDepth] = row < M && ka < K ? A[row * K + ka] : 0.0f;
        buffer.b[i / kSide][i % kSide] = kb < K && column < N ? B[kb * N + column] : 0.0f;
      }
      static_cast<void>(full[which].arrive());
    }
    return;
  }
  const int thread = threadIdx.x - kEach, x = thread % 16, y = thread / 16;
  float sums[8][4] = {};
  for (int step = 0; step < steps; ++step) {
    const int which = step % kBuffers;
    full[which].arrive_and_wait();
    for (int k = 0; k < kDepth; ++k) {
      float a[8], b[4];
#pragma unroll
      for (int i = 0; i < 8; ++i) a[i] = buffers[which].a[k][y + 8 * i];
#pragma unroll
      for (int j = 0; j < 4; ++j) b[j] = buffers[which].b[k][x + 16 * j];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += a[i] * b[j];
      }
    }
    if (step + kBuffers < steps) static_cast<void>(empty[which].arrive());
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = top + y + 8 * i, column = left + x + 16 * j;
      if (row < M && column < N) C[row * N + column] = sums[i][j];
    }
  }
}

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto tiles = [](int size) { return (size + kSide - 1) / kSide; };
  two_roles<<<dim3(tiles(N), tiles(M)), 2 * kEach>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
