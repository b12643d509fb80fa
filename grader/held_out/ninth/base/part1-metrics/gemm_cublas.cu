#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

// Row-major C (M x N) is column-major C^T (N x M), and C^T = B^T A^T.
void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  const float one = 1.0f, zero = 0.0f;
  const int lda = K, ldb = N, ldc = N;
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, ldb, A, lda, &zero,
                           C, ldc));
}
