#include <algorithm>
#include <vector>

#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int kTile = 32;

int whole_tiles(int size) { return (size + kTile - 1) / kTile * kTile; }

// A (M, K) and B (K, N) have whole tiles of K, and rows and columns of zeros up to whole tiles.
__global__ void product_kernel(const float* A, const float* B, float* C, int M, int N, int K,
                               int columns) {
  __shared__ float a[kTile][kTile], b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += kTile) {
    a[threadIdx.y][threadIdx.x] = A[static_cast<size_t>(row) * K + k0 + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[static_cast<size_t>(k0 + threadIdx.y) * columns + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) C[static_cast<size_t>(row) * N + column] = sum;
}

float* padded(const float* matrix, int rows, int columns) {
  const int wide = whole_tiles(columns);
  std::vector<float> whole(static_cast<size_t>(rows) * columns);
  std::vector<float> all(static_cast<size_t>(whole_tiles(rows)) * wide);
  CUDA_CHECK(
      cudaMemcpy(whole.data(), matrix, whole.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int row = 0; row < rows; ++row) {
    std::copy_n(&whole[static_cast<size_t>(row) * columns], columns,
                &all[static_cast<size_t>(row) * wide]);
  }
  float* copy;
  CUDA_CHECK(cudaMalloc(&copy, all.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(copy, all.data(), all.size() * sizeof(float), cudaMemcpyHostToDevice));
  return copy;
}

}  // namespace

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid(whole_tiles(N) / kTile, whole_tiles(M) / kTile), block(kTile, kTile);
  if (M % kTile == 0 && N % kTile == 0 && K % kTile == 0) {
    product_kernel<<<grid, block>>>(A, B, C, M, N, K, N);
    CUDA_CHECK(cudaGetLastError());
    return;
  }
  float* a = padded(A, M, K);
  float* b = padded(B, K, N);
  product_kernel<<<grid, block>>>(a, b, C, M, N, whole_tiles(K), whole_tiles(N));
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFree(a));
  CUDA_CHECK(cudaFree(b));
}
