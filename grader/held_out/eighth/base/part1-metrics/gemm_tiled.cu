#include "gemm.h"
#include "toolkit/check.h"

// A block has 32 x 16 threads and computes as many elements; a step along K is 16 deep.
constexpr int kTileM = 16;
constexpr int kTileN = 32;
constexpr int kDepth = 16;

__global__ void tiles_of_c(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float left[kTileM][kDepth];
  __shared__ float right[kDepth][kTileN];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int i = blockIdx.y * kTileM + ty;
  const int j = blockIdx.x * kTileN + tx;

  float acc = 0.0f;
  for (int base = 0; base < K; base += kDepth) {
    if (tx < kDepth) {
      const int k = base + tx;
      left[ty][tx] = i < M && k < K ? A[i * K + k] : 0.0f;
    }
    const int down = base + ty;
    right[ty][tx] = down < K && j < N ? B[down * N + j] : 0.0f;
    __syncthreads();
    for (int d = 0; d < kDepth; ++d) acc += left[ty][d] * right[d][tx];
    __syncthreads();
  }
  if (i < M && j < N) C[i * N + j] = acc;
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kTileN - 1) / kTileN, (M + kTileM - 1) / kTileM);
  tiles_of_c<<<grid, dim3(kTileN, kTileM)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
