#include "gemm.h"
#include "toolkit/check.h"

#define TS 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// matrixMul from the CUDA samples, plus bounds checks
__global__ void matrixMulShared(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TS][TS];
  __shared__ float Bs[TS][TS];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TS + ty;
  const int col = blockIdx.x * TS + tx;

  float Csub = 0.f;
  for (int t = 0; t < CEIL_DIV(K, TS); t++) {
    const int ak = t * TS + tx;  // k of the element of A
    const int bk = t * TS + ty;  // k of the element of B
    As[ty][tx] = (row < M && ak < K) ? A[row * K + ak] : 0.f;
    Bs[ty][tx] = (bk < K && col < N) ? B[bk * N + col] : 0.f;
    __syncthreads();

#pragma unroll
    for (int k = 0; k < TS; k++) {
      Csub += As[ty][k] * Bs[k][tx];
    }
    // wait before the tiles are overwritten
    __syncthreads();
  }

  if (row < M && col < N) C[row * N + col] = Csub;
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 threads(TS, TS);
  dim3 grid(CEIL_DIV(N, TS), CEIL_DIV(M, TS));
  matrixMulShared<<<grid, threads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
