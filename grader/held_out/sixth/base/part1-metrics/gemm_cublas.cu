#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

/* cuBLAS sees C as its transpose, an N x M matrix, and C^T = B^T A^T. */
void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  const float one = 1.0f;
  const float zero = 0.0f;
  int ld_a = K;
  int ld_b = N;
  int ld_c = N;
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N,
                           N, M, K,
                           &one,
                           B, ld_b,
                           A, ld_a,
                           &zero,
                           C, ld_c));
}
