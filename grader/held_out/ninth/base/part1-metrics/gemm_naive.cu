#include "gemm.h"
#include "toolkit/check.h"

// One flat index over all of C; divmod gives row and column, as in numpy's unravel_index.
__global__ void matmul_flat(const float* A, const float* B, float* C, int M, int N, int K) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= M * N) return;
  int i = idx / N;
  int j = idx % N;
  float acc = 0.0f;
  const float* a = A + i * K;
  const float* b = B + j;
  for (int k = 0; k < K; k++) {
    acc += a[k] * *b;
    b += N;
  }
  C[idx] = acc;
}

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  int threads = 256;
  int blocks = (M * N + threads - 1) / threads;
  matmul_flat<<<blocks, threads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
