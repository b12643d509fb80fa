#include "gemm.h"
#include "toolkit/check.h"

namespace {

// A block is a strip of 128 neighbouring elements of C, counted along its rows.
constexpr int kStrip = 128;

__global__ void dot_products(const float* A, const float* B, float* C, int M, int N, int K) {
  const int element = blockIdx.x * kStrip + threadIdx.x;
  if (element >= M * N) return;
  const int i = element / N;
  const int j = element - i * N;

  const float* left = A + i * K;
  const float* down = B + j;
  float dot = 0.0f;
  for (int steps = K; steps > 0; --steps) {
    dot = fmaf(*left, *down, dot);
    ++left;
    down += N;
  }
  C[element] = dot;
}

}  // namespace

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const int strips = (M * N - 1) / kStrip + 1;
  dot_products<<<strips, kStrip>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
