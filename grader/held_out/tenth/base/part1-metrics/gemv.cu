#include "gemv.h"

#include <cstddef>

#include "toolkit/check.h"

// 4 warps a block, each warp one row
__global__ void gemv_k(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y,
                       int M, int K) {
  const unsigned lane = threadIdx.x & 31u;
  const unsigned w = threadIdx.x >> 5;
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * 4 + w;
  if (row >= static_cast<std::size_t>(M)) return;
  const float* Arow = A + row * K;
  float part = 0.0f;
  for (int k = lane; k < K; k += 32) part = fmaf(Arow[k], x[k], part);
  part += __shfl_down_sync(0xffffffffu, part, 16);
  part += __shfl_down_sync(0xffffffffu, part, 8);
  part += __shfl_down_sync(0xffffffffu, part, 4);
  part += __shfl_down_sync(0xffffffffu, part, 2);
  part += __shfl_down_sync(0xffffffffu, part, 1);
  if (lane == 0) y[row] = part;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const unsigned blocks = (static_cast<unsigned>(M) + 3u) / 4u;
  gemv_k<<<blocks, 128>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
