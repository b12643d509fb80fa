#pragma once

#include <cublas_v2.h>

/// C = A B in fp32 by one call of cuBLAS, in full fp32 precision.
///
/// A is (M, K), B is (K, N), C is (M, N), as in gemm.h: dense, row-major, on the device. cuBLAS
/// takes every matrix as column-major: element (i, j) of a matrix X with leading dimension ld is at
/// X[i + j * ld]. `handle` is ready to use, on the default stream, and takes scalars from host
/// memory. When the function returns, its stream, pointer mode and math mode must be as before.
void gemm_cublas(cublasHandle_t handle, const float* A, const float* B, float* C, int M, int N,
                 int K);
