#include "gemm.h"
#include "toolkit/check.h"

struct Sizes {
  int m, n, k;
};

__constant__ Sizes sizes;

// Kahan's sum: what an addition rounds away is added next time.
struct Compensated {
  float sum = 0.0f, lost = 0.0f;
  __device__ void add(float term) {
    const float mended = term - lost;
    const float next = sum + mended;
    lost = (next - sum) - mended;
    sum = next;
  }
};

__global__ void strided(const float* A, const float* B, float* C) {
  const int M = sizes.m, N = sizes.n, K = sizes.k;
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < M; row += gridDim.y * blockDim.y) {
    for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < N;
         column += gridDim.x * blockDim.x) {
      Compensated total;
      for (int k = K - 1; k >= 0; --k) total.add(A[row * K + k] * B[k * N + column]);
      C[row * N + column] = total.sum;
    }
  }
}

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const Sizes given = {M, N, K};
  CUDA_CHECK(cudaMemcpyToSymbolAsync(sizes, &given, sizeof(given), 0, cudaMemcpyHostToDevice));
  strided<<<dim3(12, 18), dim3(32, 6)>>>(A, B, C);
  CUDA_CHECK(cudaGetLastError());
}
