#include <cooperative_groups.h>

#include "gemm.h"
#include "toolkit/check.h"

namespace cg = cooperative_groups;

constexpr int kPart = 64;

__global__ void add_part(const float* A, const float* B, float* C, int M, int N, int K) {
  const auto block = cg::this_thread_block();
  const int column = block.group_index().x * block.dim_threads().x + block.thread_index().x;
  const int row = block.group_index().y * block.dim_threads().y + block.thread_index().y;
  if (row >= M || column >= N) return;
  const int end = min(K, static_cast<int>(block.group_index().z + 1) * kPart);
  float sum = 0;
  for (int k = block.group_index().z * kPart; k < end; ++k)
    sum += A[row * K + k] * B[k * N + column];
  atomicAdd(&C[row * N + column], sum);
}

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  CUDA_CHECK(cudaMemsetAsync(C, 0, sizeof(float) * M * N, nullptr));
  const dim3 block(32, 8);
  const dim3 grid((N + 31) / 32, (M + 7) / 8, (K + kPart - 1) / kPart);
  add_part<<<grid, block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
