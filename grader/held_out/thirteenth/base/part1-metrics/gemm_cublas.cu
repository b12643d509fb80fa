#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  // As columns, B is (N, K) and A is (K, M): their product (N, M) is C as rows.
  const float alpha = 1.0f;
  const float beta = 0.0f;
  const int rows = N, columns = M;
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, rows, columns, K, &alpha,  //
                           B, rows,                                                     //
                           A, K, &beta,                                                 //
                           C, rows));
}
