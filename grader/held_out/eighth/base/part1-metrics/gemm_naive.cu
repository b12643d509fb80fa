#include "gemm.h"
#include "toolkit/check.h"

// A thread's number among all elements of C says its row and its column.
__global__ void one_element_each(const float* A, const float* B, float* C, int M, int N, int K) {
  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= M * N) return;
  const int i = element / N;
  const int j = element % N;
  const float* a = A + i * K;
  const float* b = B + j;
  float dot = 0.0f;
  for (int k = 0; k < K; ++k) {
    dot += *a * *b;
    a += 1;
    b += N;
  }
  C[element] = dot;
}

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const int threads = 160;
  const int elements = M * N;
  one_element_each<<<(elements + threads - 1) / threads, threads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
