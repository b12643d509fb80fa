#include "gemm.h"
#include "toolkit/check.h"

// one flat index per thread, rows and columns by division
__global__ void gemm_flat(const float* A, const float* B, float* C, int M, int N, int K) {
  const long long id = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long total = static_cast<long long>(M) * N;
  if (id >= total) return;
  const int i = id / N;
  const int j = id % N;
  float dot = 0.0f;
  const float* a = A + i * K;
  const float* b = B + j;
  for (int k = 0; k < K; ++k) {
    dot += *a * *b;
    a += 1;
    b += N;
  }
  C[id] = dot;
}

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const long long total = static_cast<long long>(M) * N;
  const int block = 256;
  const unsigned grid = static_cast<unsigned>((total + block - 1) / block);
  gemm_flat<<<grid, block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
