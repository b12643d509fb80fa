#include "gemm.h"
#include "toolkit/check.h"

// Each buffer has two barriers: "full" for the warps that multiply, "empty" for those that load.
// Both count all threads, those that wait and those that only arrive.

constexpr int kTile = 16;
constexpr int kLoaders = 64;
constexpr int kWorkers = kTile * kTile;
constexpr int kThreads = kLoaders + kWorkers;

__device__ void wait_at(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}
__device__ void arrive_at(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}
__device__ int full(int buffer) { return 1 + buffer; }
__device__ int empty(int buffer) { return 3 + buffer; }

struct Matrices {
  const float *A, *B;
  float* C;
  int M, N, K;
};

using Tile = float[kTile][kTile + 1];

__device__ void load_tiles(const Matrices& m, Tile (&a)[2], Tile (&b)[2], int thread) {
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  int tile = 0;
  for (int k0 = 0; k0 < m.K; k0 += kTile, ++tile) {
    const int buffer = tile % 2;
    if (tile >= 2) wait_at(empty(buffer));
    for (int i = thread; i < kTile * kTile; i += kLoaders) {
      const int r = i / kTile, c = i % kTile;
      a[buffer][r][c] = top + r < m.M && k0 + c < m.K ? m.A[(top + r) * m.K + k0 + c] : 0.0f;
      b[buffer][r][c] = k0 + r < m.K && left + c < m.N ? m.B[(k0 + r) * m.N + left + c] : 0.0f;
    }
    arrive_at(full(buffer));
  }
}

__device__ void multiply_tiles(const Matrices& m, const Tile (&a)[2], const Tile (&b)[2],
                               int thread) {
  const int y = thread / kTile, x = thread % kTile;
  const int tiles = (m.K + kTile - 1) / kTile;
  float sum = 0.0f;
  for (int tile = 0; tile < tiles; ++tile) {
    const int buffer = tile % 2;
    wait_at(full(buffer));
    for (int k = 0; k < kTile; ++k) sum += a[buffer][y][k] * b[buffer][k][x];
    if (tile + 2 < tiles) arrive_at(empty(buffer));
  }
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  if (row < m.M && column < m.N) m.C[row * m.N + column] = sum;
}

__global__ void __launch_bounds__(kThreads) roles(Matrices m) {
  __shared__ Tile a[2], b[2];
  if (threadIdx.x < kLoaders) {
    load_tiles(m, a, b, threadIdx.x);
  } else {
    multiply_tiles(m, a, b, threadIdx.x - kLoaders);
  }
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
  roles<<<grid, kThreads>>>(Matrices{A, B, C, M, N, K});
  CUDA_CHECK(cudaGetLastError());
}
