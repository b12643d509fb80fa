#include "gemm.h"

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  for (int row = 0; row < M; ++row) {
    for (int column = 0; column < N; ++column) {
      float sum = 0.0f;
      for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
      C[row * N + column] = sum;
    }
  }
}
