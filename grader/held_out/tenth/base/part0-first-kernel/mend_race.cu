#include "mend_race.h"

#include "toolkit/check.h"

// Two elements for each thread: it brings both in, and takes both from the mirrored places.
constexpr int kHalf = kPiece / 2;

__global__ void mirror(const float* x, float* y) {
  __shared__ float piece[kPiece];
  const float* from = x + blockIdx.x * kPiece;
  float* to = y + blockIdx.x * kPiece;
  const int t = threadIdx.x;
  piece[t] = from[t];
  piece[t + kHalf] = from[t + kHalf];
  __syncthreads();
  to[t] = piece[kPiece - 1 - t];
  to[t + kHalf] = piece[kHalf - 1 - t];
}

void reverse_pieces(const float* x, float* y, int pieces) {
  mirror<<<pieces, kHalf>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
}
