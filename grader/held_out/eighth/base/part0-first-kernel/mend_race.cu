#include "mend_race.h"

#include "toolkit/check.h"

// Half as many threads as elements: each moves two of them.
constexpr int kMovers = kPiece / 2;

__global__ void turn_round(const float* x, float* y) {
  __shared__ float turned[kPiece];
  const float* from = x + blockIdx.x * kPiece;
  float* to = y + blockIdx.x * kPiece;
  for (int i = threadIdx.x; i < kPiece; i += kMovers) turned[kPiece - 1 - i] = from[i];
  __syncthreads();
  for (int i = threadIdx.x; i < kPiece; i += kMovers) to[i] = turned[i];
}

void reverse_pieces(const float* x, float* y, int pieces) {
  turn_round<<<pieces, kMovers>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
}
