#include "gemm_cublas.h"

#include "toolkit/check_cublas.h"
#include "toolkit/todo.h"

void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K) {
  rooflab::todo("work out which matrix cuBLAS sees when it is given A");
}
