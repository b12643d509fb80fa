#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

// Read by columns, a dense (rows, columns) matrix is its transpose, with leading dimension
// columns. So cuBLAS is asked for C^T = B^T A^T.
void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  const float scale = 1.0f, keep = 0.0f;
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N,
                           N, M, K,
                           &scale,
                           B, N,
                           A, K,
                           &keep,
                           C, N));
}
