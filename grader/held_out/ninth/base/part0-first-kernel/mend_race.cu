#include "mend_race.h"

#include "toolkit/check.h"

// A thread swaps two elements that face each other: half as many threads as a piece has elements.
__global__ void flip(const float* src, float* dst) {
  __shared__ float s[kPiece];
  const int half = kPiece / 2;
  const int t = threadIdx.x;
  const float* in = src + blockIdx.x * kPiece;
  float* out = dst + blockIdx.x * kPiece;
  s[t] = in[t];
  s[t + half] = in[t + half];
  __syncthreads();
  out[t] = s[kPiece - 1 - t];
  out[t + half] = s[half - 1 - t];
}

void reverse_pieces(const float* x, float* y, int pieces) {
  flip<<<pieces, kPiece / 2>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
}
