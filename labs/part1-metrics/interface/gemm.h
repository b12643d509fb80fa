#pragma once

// C = A B in fp32.
//
//   A is (M, K), B is (K, N), C is (M, N); all three are dense and row-major, so that
//   A[i][k] is at A[i * K + k].
//   A, B and C are device pointers, aligned to 256 bytes. M, N and K are between 1 and 65,536, and
//   need not be multiples of anything; no matrix has more than 2^30 elements, so an int can index
//   it.
//
// Each function launches its kernels on the default stream and need not wait for them. C holds
// garbage before the call: write every element, read none. Do not change A or B.

/// Each thread computes one element of C, straight from global memory.
void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K);

/// Each block computes one tile of C. It moves along K, and keeps the current tiles of A and B in
/// shared memory, so that each value it loads from global memory serves a whole row or column of
/// threads. The points for speed require that: each loaded value must serve at least two threads.
void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K);

/// Like gemm_tiled, but each thread computes a patch of C in registers, so that each value it loads
/// from shared memory serves several multiply-adds.
void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K);
