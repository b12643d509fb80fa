#include "gemm.h"
#include "toolkit/check.h"

namespace {

// Threads are numbered along C, row after row.
__global__ void one_element(const float* A, const float* B, float* C, int M, int N, int K) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= M * N) return;
  const int row = at / N;
  const int column = at % N;
  const float* a = A + row * K;
  const float* b = B + column;
  float dot = 0.0f;
  for (int left = K; left > 0; --left, ++a, b += N) dot = fmaf(*a, *b, dot);
  C[at] = dot;
}

}  // namespace

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  constexpr int kThreads = 128;
  one_element<<<(M * N + kThreads - 1) / kThreads, kThreads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
