#include "gemm.h"
#include "toolkit/check.h"

namespace {

// A block makes kHigh x kWide elements of C, and moves along K in steps of kDepth.
constexpr int kHigh = 8;
constexpr int kWide = 32;
constexpr int kDepth = 16;
constexpr int kThreads = kHigh * kWide;

__global__ void tile_of_c(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float ours_a[kHigh][kDepth];
  __shared__ float ours_b[kDepth][kWide];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int number = ty * kWide + tx;
  const int top = blockIdx.y * kHigh;
  const int left = blockIdx.x * kWide;
  float total = 0.0f;
  for (int base = 0; base < K; base += kDepth) {
    for (int e = number; e < kHigh * kDepth; e += kThreads) {
      const int r = e / kDepth;
      const int d = e % kDepth;
      const bool there = top + r < M && base + d < K;
      ours_a[r][d] = there ? A[(top + r) * K + base + d] : 0.0f;
    }
    for (int e = number; e < kDepth * kWide; e += kThreads) {
      const int d = e / kWide;
      const int c = e % kWide;
      const bool there = base + d < K && left + c < N;
      ours_b[d][c] = there ? B[(base + d) * N + left + c] : 0.0f;
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d) total = fmaf(ours_a[ty][d], ours_b[d][tx], total);
    __syncthreads();
  }
  if (top + ty < M && left + tx < N) C[(top + ty) * N + left + tx] = total;
}

}  // namespace

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 tiles((N + kWide - 1) / kWide, (M + kHigh - 1) / kHigh);
  tile_of_c<<<tiles, dim3(kWide, kHigh)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
