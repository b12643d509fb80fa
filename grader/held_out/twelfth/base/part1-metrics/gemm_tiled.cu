#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int kSide = 16;   // of a tile of C
constexpr int kDepth = 32;  // of a step along K

__global__ void by_tiles(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float left[kSide][kDepth];
  __shared__ float right[kDepth][kSide];
  const int down = threadIdx.y, along = threadIdx.x;
  const int row = blockIdx.x * kSide + down;
  const int column = blockIdx.y * kSide + along;
  float sum = 0.0f;
  for (int begin = 0; begin < K; begin += kDepth) {
    for (int k = along; k < kDepth; k += kSide) {
      left[down][k] = row < M && begin + k < K ? A[row * K + begin + k] : 0.0f;
    }
    for (int k = down; k < kDepth; k += kSide) {
      right[k][along] = column < N && begin + k < K ? B[(begin + k) * N + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) sum += left[down][k] * right[k][along];
    __syncthreads();
  }
  if (row < M && column < N) C[row * N + column] = sum;
}

}  // namespace

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((M + kSide - 1) / kSide, (N + kSide - 1) / kSide);
  by_tiles<<<grid, dim3(kSide, kSide)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
