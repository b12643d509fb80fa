#include "gemm.h"
#include "toolkit/check.h"

namespace {

// A block has a patch of C of 32 rows and 16 columns; a step along K has 16.
constexpr int kTall = 32;
constexpr int kWide = 16;
constexpr int kDeep = 16;
constexpr int kThreads = kTall * kWide / 2;  // each thread has two rows of C, kTall / 2 apart

struct Matrix {
  const float* at;
  int rows, columns;

  __device__ float operator()(int r, int c) const {
    return r < rows && c < columns ? at[r * columns + c] : 0.0f;
  }
};

__global__ void patches(Matrix a, Matrix b, float* C) {
  __shared__ float left[kTall][kDeep + 1];
  __shared__ float right[kDeep][kWide];
  const int top = blockIdx.x * kTall, begin = blockIdx.y * kWide;
  const int y = threadIdx.x / kWide, x = threadIdx.x % kWide;

  float upper = 0.0f, lower = 0.0f;
  for (int depth = 0; depth < a.columns; depth += kDeep) {
    for (int t = threadIdx.x; t < kTall * kDeep; t += kThreads) {
      left[t / kDeep][t % kDeep] = a(top + t / kDeep, depth + t % kDeep);
    }
    right[y][x] = b(depth + y, begin + x);
    __syncthreads();
    for (int d = 0; d < kDeep; ++d) {
      upper += left[y][d] * right[d][x];
      lower += left[y + kTall / 2][d] * right[d][x];
    }
    __syncthreads();
  }

  const int column = begin + x;
  if (column >= b.columns) return;
  if (top + y < a.rows) C[(top + y) * b.columns + column] = upper;
  if (top + y + kTall / 2 < a.rows) C[(top + y + kTall / 2) * b.columns + column] = lower;
}

}  // namespace

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((M + kTall - 1) / kTall, (N + kWide - 1) / kWide);
  patches<<<grid, kThreads>>>(Matrix{A, M, K}, Matrix{B, K, N}, C);
  CUDA_CHECK(cudaGetLastError());
}
