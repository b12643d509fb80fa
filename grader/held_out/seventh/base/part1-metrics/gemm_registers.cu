#include "gemm.h"
#include "toolkit/check.h"

// 2D blocktiling, after siboehm's "How to optimize a CUDA matmul kernel"
#define BM 64
#define BN 64
#define BK 8
#define TM 4
#define TN 4
#define NT ((BM / TM) * (BN / TN))
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__global__ void __launch_bounds__(NT)
    sgemm2DBlocktiling(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[BK][BM];
  __shared__ float Bs[BK][BN];

  const int cRow = blockIdx.y * BM;
  const int cCol = blockIdx.x * BN;
  const int tRow = threadIdx.x / (BN / TN);
  const int tCol = threadIdx.x % (BN / TN);

  float acc[TM][TN] = {};
  float rM[TM], rN[TN];

  for (int bk = 0; bk < K; bk += BK) {
    // A is stored transposed
    for (int i = threadIdx.x; i < BM * BK; i += NT) {
      const int r = i / BK, c = i % BK;
      As[c][r] = (cRow + r < M && bk + c < K) ? A[(cRow + r) * K + bk + c] : 0.f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += NT) {
      const int r = i / BN, c = i % BN;
      Bs[r][c] = (bk + r < K && cCol + c < N) ? B[(bk + r) * N + cCol + c] : 0.f;
    }
    __syncthreads();

    for (int d = 0; d < BK; ++d) {
      for (int i = 0; i < TM; ++i) rM[i] = As[d][tRow * TM + i];
      for (int j = 0; j < TN; ++j) rN[j] = Bs[d][tCol * TN + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) acc[i][j] += rM[i] * rN[j];
    }
    __syncthreads();
  }

  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; ++j) {
      const int r = cRow + tRow * TM + i;
      const int c = cCol + tCol * TN + j;
      if (r < M && c < N) C[r * N + c] = acc[i][j];
    }
  }
}

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 grid(CEIL_DIV(N, BN), CEIL_DIV(M, BM));
  sgemm2DBlocktiling<<<grid, NT>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
