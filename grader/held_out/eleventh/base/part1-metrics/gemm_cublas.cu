#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  // Column by column, cuBLAS sees the transposes: B^T is (N, K), A^T is (K, M), C^T is (N, M).
  const float one = 1.0f;
  const float none = 0.0f;
  const int ld_b = N;
  const int ld_a = K;
  const int ld_c = N;
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, ld_b, A, ld_a, &none,
                           C, ld_c));
}
