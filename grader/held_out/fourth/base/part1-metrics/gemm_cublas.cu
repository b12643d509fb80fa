#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"

namespace {

// A row-major matrix as cuBLAS gets it: its rows are the columns that cuBLAS sees.
struct RowMajor {
  const float* data;
  int rows, columns;
};

}  // namespace

void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  const RowMajor a{A, M, K}, b{B, K, N};
  const float one = 1.0f, zero = 0.0f;
  // C^T = B^T A^T.
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, b.columns, a.rows, a.columns, &one,
                           b.data, b.columns, a.data, a.columns, &zero, C, b.columns));
}
