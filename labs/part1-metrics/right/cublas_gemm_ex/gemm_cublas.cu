#include "gemm_cublas.h"

#include <stdexcept>
#include <string>

namespace {

// A row-major matrix, which cuBLAS sees as its transpose.
struct RowMajor {
  const float* data;
  int rows, columns;
  int leading() const { return columns; }
};

void must(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string("cuBLAS says ") + cublasGetStatusString(status));
}

}  // namespace

void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  const RowMajor a{A, M, K}, b{B, K, N};
  const float one = 1.0f, none = 0.0f;
  must(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, b.columns, a.rows, a.columns, &one, b.data,
                    CUDA_R_32F, b.leading(), a.data, CUDA_R_32F, a.leading(), &none, C, CUDA_R_32F,
                    N, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}
