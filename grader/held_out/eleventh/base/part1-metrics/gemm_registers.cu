#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int kSide = 16;       // threads along each side of a block
constexpr int kRowsEach = 4;    // rows of C of one thread, kSide apart
constexpr int kColumnsEach = 2; // columns of C of one thread, kSide apart
constexpr int kTall = kSide * kRowsEach;
constexpr int kBroad = kSide * kColumnsEach;
constexpr int kSlice = 8;

__global__ void patches(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sliceA[kSlice][kTall + 1];  // transposed
  __shared__ float sliceB[kSlice][kBroad];
  const int x = threadIdx.x % kSide;
  const int y = threadIdx.x / kSide;
  const int row0 = blockIdx.x * kTall;
  const int column0 = blockIdx.y * kBroad;
  float patch[kRowsEach][kColumnsEach] = {};
  for (int k0 = 0; k0 < K; k0 += kSlice) {
    for (int e = threadIdx.x; e < kTall * kSlice; e += kSide * kSide) {
      const int i = e / kSlice, k = e % kSlice;
      const bool exists = row0 + i < M && k0 + k < K;
      sliceA[k][i] = exists ? A[(row0 + i) * K + k0 + k] : 0.0f;
    }
    for (int e = threadIdx.x; e < kSlice * kBroad; e += kSide * kSide) {
      const int k = e / kBroad, j = e % kBroad;
      const bool exists = k0 + k < K && column0 + j < N;
      sliceB[k][j] = exists ? B[(k0 + k) * N + column0 + j] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSlice; ++k) {
      float down[kRowsEach], across[kColumnsEach];
      for (int i = 0; i < kRowsEach; ++i) down[i] = sliceA[k][y + i * kSide];
      for (int j = 0; j < kColumnsEach; ++j) across[j] = sliceB[k][x + j * kSide];
      for (int i = 0; i < kRowsEach; ++i) {
        for (int j = 0; j < kColumnsEach; ++j) patch[i][j] += down[i] * across[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < kRowsEach; ++i) {
    const int row = row0 + y + i * kSide;
    for (int j = 0; j < kColumnsEach; ++j) {
      const int column = column0 + x + j * kSide;
      if (row < M && column < N) C[row * N + column] = patch[i][j];
    }
  }
}

}  // namespace

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((M + kTall - 1) / kTall, (N + kBroad - 1) / kBroad);
  patches<<<grid, kSide * kSide>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
