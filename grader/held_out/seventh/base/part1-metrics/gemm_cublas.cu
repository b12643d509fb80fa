#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  const float alpha = 1.f, beta = 0.f;
  // row-major C = A*B  <=>  col-major C^T = B^T * A^T, see simpleCUBLAS / matrixMulCUBLAS
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N,
                           N, M, K,
                           &alpha,
                           B, N,
                           A, K,
                           &beta,
                           C, N));
}
