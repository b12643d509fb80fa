#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

// What is row by row for us is column by column for cuBLAS: it sees A^T, B^T and C^T, and we ask it
// for C^T = B^T A^T.
void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  const float one = 1.0f;
  const float zero = 0.0f;
  const int ld_a = K;
  const int ld_b = N;
  const int ld_c = N;
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N,
                           N, M, K,
                           &one, B, ld_b, A, ld_a,
                           &zero, C, ld_c));
}
