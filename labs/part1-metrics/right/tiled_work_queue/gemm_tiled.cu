#include "gemm.h"
#include "toolkit/check.h"

constexpr int kTile = 32;
constexpr int kThreads = 256;

__device__ unsigned int next_tile;

// Four values of a row from column on, zeros beyond its end. Rows begin anywhere.
__device__ float4 four_of(const float* row, int column, int columns) {
  if (column + 3 < columns && reinterpret_cast<size_t>(row + column) % sizeof(float4) == 0) {
    return *reinterpret_cast<const float4*>(row + column);
  }
  float4 four = {0, 0, 0, 0};
  if (column + 0 < columns) four.x = row[column + 0];
  if (column + 1 < columns) four.y = row[column + 1];
  if (column + 2 < columns) four.z = row[column + 2];
  if (column + 3 < columns) four.w = row[column + 3];
  return four;
}

__device__ void multiply_tile(const float* A, const float* B, float* C, int M, int N, int K,
                              int top, int left) {
  __shared__ float4 a[kTile][kTile / 4];
  __shared__ float4 b[kTile][kTile / 4];
  const int r = threadIdx.x / 8, c = threadIdx.x % 8;  // each thread: four columns of a row
  const float4 nothing = {0, 0, 0, 0};
  float4 sum = nothing;
  for (int k0 = 0; k0 < K; k0 += kTile) {
    a[r][c] = top + r < M ? four_of(A + (top + r) * K, k0 + 4 * c, K) : nothing;
    b[r][c] = k0 + r < K ? four_of(B + (k0 + r) * N, left + 4 * c, N) : nothing;
    __syncthreads();
    const float* mine = reinterpret_cast<const float*>(a[r]);
    for (int k = 0; k < kTile; ++k) {
      const float4 other = b[k][c];
      sum.x += mine[k] * other.x;
      sum.y += mine[k] * other.y;
      sum.z += mine[k] * other.z;
      sum.w += mine[k] * other.w;
    }
    __syncthreads();
  }
  if (top + r >= M) return;
  const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
  for (int i = 0; i < 4; ++i) {
    if (left + 4 * c + i < N) C[(top + r) * N + left + 4 * c + i] = sums[i];
  }
}

__global__ void __launch_bounds__(kThreads)
    workers(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ unsigned int drawn;
  const unsigned int across = (N + kTile - 1) / kTile;
  const unsigned int tiles = across * ((M + kTile - 1) / kTile);
  while (true) {
    if (threadIdx.x == 0) drawn = atomicAdd(&next_tile, 1u);
    __syncthreads();
    const unsigned int tile = drawn;
    if (tile >= tiles) return;
    multiply_tile(A, B, C, M, N, K, tile / across * kTile, tile % across * kTile);
    __syncthreads();  // all have read `drawn`
  }
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  int device = 0, processors = 0, blocks_each = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, workers, kThreads, 0));
  void* counter = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&counter, next_tile));
  CUDA_CHECK(cudaMemsetAsync(counter, 0, sizeof(unsigned int)));
  workers<<<processors * blocks_each, kThreads>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
