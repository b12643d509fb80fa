#include "gemm.h"
#include "toolkit/check.h"

template <int kRows, int kColumns, int kDepth, int kThreads>
__global__ void __launch_bounds__(kThreads)
    flat_tiles(const float* A, const float* B, float* C, int M, int N, int K) {
  constexpr int kEach = kRows * kColumns / kThreads;  // elements of C for each thread
  static_assert(kEach * kThreads == kRows * kColumns);
  __shared__ float a[kRows * kDepth];
  __shared__ float b[kDepth * kColumns];
  const int tiles_across = (N + kColumns - 1) / kColumns;
  const int first_row = blockIdx.x / tiles_across * kRows;
  const int first_column = blockIdx.x % tiles_across * kColumns;
  float sums[kEach] = {};

  for (int first_k = 0; first_k < K; first_k += kDepth) {
    for (int i = threadIdx.x; i < kRows * kDepth; i += kThreads) {
      const int row = first_row + i / kDepth, k = first_k + i % kDepth;
      a[i] = row < M && k < K ? A[row * K + k] : 0;
    }
    for (int i = threadIdx.x; i < kDepth * kColumns; i += kThreads) {
      const int k = first_k + i / kColumns, column = first_column + i % kColumns;
      b[i] = k < K && column < N ? B[k * N + column] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const int mine = threadIdx.x + e * kThreads;
      for (int k = 0; k < kDepth; ++k) {
        sums[e] += a[mine / kColumns * kDepth + k] * b[k * kColumns + mine % kColumns];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int mine = threadIdx.x + e * kThreads;
    const int row = first_row + mine / kColumns;
    if (row >= M) return;
    const int column = first_column + mine % kColumns;
    if (column >= N) continue;
    C[row * N + column] = sums[e];
  }
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const int tiles = ((M + 7) / 8) * ((N + 63) / 64);
  flat_tiles<8, 64, 16, 128><<<tiles, 128>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
