#include "gemm.h"
#include "toolkit/check.h"

#define BS 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define AT(p, ld, i, j) (p)[(i) * (ld) + (j)]

__global__ void sgemmNaive(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;

  float tmp = 0.0f;
  for (int i = 0; i < K; ++i) {
    tmp += AT(A, K, row, i) * AT(B, N, i, col);
  }
  AT(C, N, row, col) = tmp;
}

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 threads(BS, BS);
  dim3 blocks(CEIL_DIV(N, BS), CEIL_DIV(M, BS));
  sgemmNaive<<<blocks, threads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
