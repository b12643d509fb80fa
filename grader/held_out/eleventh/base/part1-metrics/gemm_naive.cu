#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int kColumnsOfBlock = 64;
constexpr int kRowsOfBlock = 4;

__global__ void one_element(const float* A, const float* B, float* C, int M, int N, int K) {
  const int column = blockIdx.x * kColumnsOfBlock + threadIdx.x;
  const int row = blockIdx.y * kRowsOfBlock + threadIdx.y;
  if (column >= N || row >= M) return;
  const float* a = A + row * K;
  const float* b = B + column;
  float dot = 0.0f;
  for (int left = K; left > 0; --left) {
    dot += *a * *b;
    a += 1;
    b += N;
  }
  C[row * N + column] = dot;
}

}  // namespace

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 block(kColumnsOfBlock, kRowsOfBlock);
  const int across = (N + kColumnsOfBlock - 1) / kColumnsOfBlock;
  const int down = (M + kRowsOfBlock - 1) / kRowsOfBlock;
  one_element<<<dim3(across, down), block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
