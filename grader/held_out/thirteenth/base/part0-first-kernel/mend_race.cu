#include "mend_race.h"

#include "toolkit/check.h"

// A block has half as many threads as its piece has elements: each takes two.
__global__ void reverse_kernel(const float* x, float* y) {
  __shared__ float piece[kPiece];
  const float* from = x + blockIdx.x * kPiece;
  float* to = y + blockIdx.x * kPiece;
  for (int i = threadIdx.x; i < kPiece; i += blockDim.x) piece[i] = from[i];
  __syncthreads();
  for (int i = threadIdx.x; i < kPiece; i += blockDim.x) to[i] = piece[kPiece - 1 - i];
}

void reverse_pieces(const float* x, float* y, int pieces) {
  reverse_kernel<<<pieces, kPiece / 2>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
}
