#include "gemm.h"
#include "toolkit/check.h"

/* Sizes of the product, passed by value. */
struct gemm_size {
  int m;
  int n;
  int k;
};

/* Row i of A times column j of B. */
__device__ static float row_times_column(const float* A, const float* B, int i, int j,
                                         struct gemm_size s) {
  float acc = 0.0f;
  int p;
  for (p = 0; p < s.k; p++) {
    acc += A[i * s.k + p] * B[p * s.n + j];
  }
  return acc;
}

__global__ void naive_kernel(const float* A, const float* B, float* C, struct gemm_size s) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= s.m || j >= s.n) return;
  C[i * s.n + j] = row_times_column(A, B, i, j, s);
}

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  struct gemm_size s = {M, N, K};
  dim3 block(32, 8);
  dim3 grid((N + 31) / 32, (M + 7) / 8);
  naive_kernel<<<grid, block>>>(A, B, C, s);
  CUDA_CHECK(cudaGetLastError());
}
