#include "gemv.h"
#include "toolkit/check.h"

constexpr int kPiece = 1024;

__global__ void clear(float* y, int M) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < M; i += gridDim.x * blockDim.x) y[i] = 0;
}

__global__ void add_pieces(const float* A, const float* x, float* y, int M, int K) {
  const int pieces = (K + kPiece - 1) / kPiece;
  const long warp = (blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x) / warpSize;
  if (warp >= static_cast<long>(M) * pieces) return;
  const int row = warp / pieces, piece = warp % pieces;
  const int end = min(K, (piece + 1) * kPiece);
  float sum = 0;
  for (int k = piece * kPiece + threadIdx.x % warpSize; k < end; k += warpSize) {
    sum += __ldg(&A[static_cast<long>(row) * K + k]) * __ldg(&x[k]);
  }
  for (int distance = warpSize / 2; distance; distance >>= 1) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  if (threadIdx.x % warpSize == 0) atomicAdd(y + row, sum);
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  clear<<<64, 128>>>(y, M);
  CUDA_CHECK(cudaGetLastError());
  const long warps = static_cast<long>(M) * ((K + kPiece - 1) / kPiece);
  add_pieces<<<static_cast<unsigned>((warps + 3) / 4), 128>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
