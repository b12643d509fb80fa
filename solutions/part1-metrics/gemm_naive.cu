#include "gemm.h"
#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: each thread finds its row and column of C, and computes it.
namespace {

constexpr int kBlock = 16;  // threads along each side of a block

__global__ void gemm_naive_kernel(const float* A, const float* B, float* C, int M, int N, int K) {
  // Neighbouring threads take neighbouring columns: a warp reads and writes whole sectors.
  const int row = blockIdx.y * kBlock + threadIdx.y;
  const int column = blockIdx.x * kBlock + threadIdx.x;
  if (row >= M || column >= N) return;

  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  C[row * N + column] = sum;
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace
// END SOLUTION

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write a kernel for one element of C, and launch it for all M x N");
  const dim3 block(kBlock, kBlock);
  const dim3 grid(divide_up(N, kBlock), divide_up(M, kBlock));
  gemm_naive_kernel<<<grid, block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
