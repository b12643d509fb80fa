#include "window_sums.h"

#include "toolkit/check.h"

namespace {

constexpr int kWindows = 160;
constexpr int kNeeded = kWindows + 2 * kRadius;

__global__ void add_windows(const float* x, float* y, int n) {
  __shared__ float strip[kNeeded];
  const int left = static_cast<int>(blockIdx.x) * kWindows - kRadius;
  for (int s = threadIdx.x; s < kNeeded; s += kWindows) {
    const int from = left + s;
    const bool inside = from >= 0 && from < n;
    strip[s] = inside ? x[from] : 0.0f;
  }
  __syncthreads();
  const int to = left + kRadius + threadIdx.x;
  if (to >= n) return;
  float total = strip[threadIdx.x];
  for (int k = 1; k <= 2 * kRadius; ++k) total += strip[threadIdx.x + k];
  y[to] = total;
}

}  // namespace

void window_sums(const float* x, float* y, int n) {
  add_windows<<<(n + kWindows - 1) / kWindows, kWindows>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
