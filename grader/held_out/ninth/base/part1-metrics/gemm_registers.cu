#include "gemm.h"
#include "toolkit/check.h"

#define BM 32
#define BN 64
#define BK 8
#define TM 4
#define TN 4
#define NT ((BM / TM) * (BN / TN))  // 128

__global__ void __launch_bounds__(NT)
    gemm_reg(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[BK][BM];
  __shared__ float Bs[BK][BN];
  int t = threadIdx.x;
  int ty = t / (BN / TN), tx = t % (BN / TN);
  int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int e = t; e < BM * BK; e += NT) {
      int m = e / BK, k = e % BK;
      As[k][m] = (m0 + m < M && k0 + k < K) ? A[(m0 + m) * K + k0 + k] : 0.f;
    }
    for (int e = t; e < BK * BN; e += NT) {
      int k = e / BN, n = e % BN;
      Bs[k][n] = (k0 + k < K && n0 + n < N) ? B[(k0 + k) * N + n0 + n] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < BK; k++) {
      float ra[TM], rb[TN];
      for (int i = 0; i < TM; i++) ra[i] = As[k][ty * TM + i];
      for (int j = 0; j < TN; j++) rb[j] = Bs[k][tx + j * (BN / TN)];
      for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) acc[i][j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; i++)
    for (int j = 0; j < TN; j++) {
      int m = m0 + ty * TM + i, n = n0 + tx + j * (BN / TN);
      if (m < M && n < N) C[m * N + n] = acc[i][j];
    }
}

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 g((N + BN - 1) / BN, (M + BM - 1) / BM);
  gemm_reg<<<g, NT>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
