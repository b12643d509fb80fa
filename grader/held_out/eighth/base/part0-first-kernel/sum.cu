#include "sum.h"

#include <algorithm>

#include "toolkit/check.h"

constexpr int kThreads = 128;
constexpr int kEach = 4;  // elements of a thread, if the grid is not at its largest

// Every block adds its share to *result.
__global__ void add_up(const float* x, float* result, int n) {
  __shared__ float held[kThreads];
  const int t = threadIdx.x;
  float mine = 0.0f;
  const int stride = gridDim.x * kThreads;
  for (int i = blockIdx.x * kThreads + t; i < n; i += stride) mine += x[i];
  held[t] = mine;
  __syncthreads();

  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) held[t] += held[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(result, held[0]);
}

void sum(const float* x, float* result, int n) {
  const int share = kThreads * kEach;
  const int blocks = std::min((n - 1) / share + 1, 512);
  CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float)));
  add_up<<<blocks, kThreads>>>(x, result, n);
  CUDA_CHECK(cudaGetLastError());
}
