#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int kTile = 16;

// The last tile is moved back until it lies inside, so that only matrices smaller than a tile need
// a look at the edge. Two blocks then store the same sum to the elements that both have.
__device__ int first_of(int tile, int size) { return max(min(tile * kTile, size - kTile), 0); }

__global__ void tile_of_c(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = first_of(blockIdx.y, M) + threadIdx.y;
  const int column = first_of(blockIdx.x, N) + threadIdx.x;
  if (row >= M || column >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  C[row * N + column] = sum;
}

}  // namespace

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 tiles((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
  tile_of_c<<<tiles, dim3(kTile, kTile)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
