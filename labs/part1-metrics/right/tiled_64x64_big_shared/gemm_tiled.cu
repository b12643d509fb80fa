#include "gemm.h"
#include "toolkit/check.h"

constexpr int kSide = 64;    // of the tile of C
constexpr int kDepth = 128;  // steps that lie in shared memory at once
constexpr int kBytes = 2 * kSide * kDepth * sizeof(float);

struct Tiles {
  float* a;  // [kSide][kDepth]
  float* b;  // [kDepth][kSide]
};

__device__ Tiles carve(unsigned char* memory) {
  Tiles tiles;
  tiles.a = reinterpret_cast<float*>(memory);
  tiles.b = reinterpret_cast<float*>(memory + kSide * kDepth * sizeof(float));
  return tiles;
}

__global__ void big_tiles(const float* A, const float* B, float* C, int M, int N, int K) {
  extern __shared__ __align__(16) unsigned char memory[];
  const Tiles tile = carve(memory);
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    const int depth = min(kDepth, K - k0);
    for (int i = threadIdx.x; i < kSide * kDepth; i += blockDim.x) {
      const int r = i / kDepth, k = i % kDepth;
      tile.a[i] = (top + r < M && k < depth) ? A[(top + r) * K + k0 + k] : 0.f;
    }
    for (int i = threadIdx.x; i < kDepth * kSide; i += blockDim.x) {
      const int k = i / kSide, c = i % kSide;
      tile.b[i] = (k < depth && left + c < N) ? B[(k0 + k) * N + left + c] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < depth; ++k) {
      float a[4], b[4];
      for (int i = 0; i < 4; ++i) a[i] = tile.a[(ty + 16 * i) * kDepth + k];
      for (int j = 0; j < 4; ++j) b[j] = tile.b[k * kSide + tx + 16 * j];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const int row = top + ty + 16 * i;
    if (row >= M) return;
    for (int j = 0; j < 4; ++j) {
      const int column = left + tx + 16 * j;
      if (column < N) C[row * N + column] = sum[i][j];
    }
  }
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  CUDA_CHECK(cudaFuncSetAttribute(big_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const dim3 grid((N + kSide - 1) / kSide, (M + kSide - 1) / kSide);
  big_tiles<<<grid, 256, kBytes>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
