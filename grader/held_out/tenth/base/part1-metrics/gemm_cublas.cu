#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  // My row-major C is cuBLAS's C^T (N x M), and C^T = B^T A^T. Its B^T is my B as it lies there.
  const float one = 1.0f;
  const float zero = 0.0f;
  const int ldA = K;
  const int ldB = N;
  const int ldC = N;
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, ldB, A, ldA, &zero,
                           C, ldC));
}
