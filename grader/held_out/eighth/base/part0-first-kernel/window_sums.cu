#include "window_sums.h"

#include "toolkit/check.h"

constexpr int kTile = 128;                  // windows of a block
constexpr int kSpan = kTile + 2 * kRadius;  // elements that they see

__global__ void windows(const float* x, float* y, int n) {
  __shared__ float span[kSpan];
  const int start = blockIdx.x * kTile;

  // span[s] is element start - kRadius + s.
  for (int s = threadIdx.x; s < kSpan; s += blockDim.x) {
    const int from = start - kRadius + s;
    span[s] = from >= 0 && from < n ? x[from] : 0.0f;
  }
  __syncthreads();

  const int i = start + threadIdx.x;
  if (i >= n) return;
  float total = 0.0f;
  for (int step = -kRadius; step <= kRadius; ++step) {
    total += span[threadIdx.x + kRadius + step];
  }
  y[i] = total;
}

void window_sums(const float* x, float* y, int n) {
  const int tiles = (n + kTile - 1) / kTile;
  windows<<<tiles, kTile>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
