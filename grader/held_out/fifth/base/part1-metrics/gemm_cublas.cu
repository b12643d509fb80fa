#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

// Row by row, C = A B; read column by column, the same memory says C^T = B^T A^T.
void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  struct Matrix {
    const float* data;
    int pitch;
  };
  const Matrix first{B, N}, second{A, K};
  const float one = 1.0f, zero = 0.0f;
  const cublasOperation_t as_is = CUBLAS_OP_N;
  CUBLAS_CHECK(cublasSgemm(handle, as_is, as_is, N, M, K, &one, first.data, first.pitch,
                           second.data, second.pitch, &zero, C, N));
}
