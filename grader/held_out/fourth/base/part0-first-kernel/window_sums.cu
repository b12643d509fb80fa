#include "window_sums.h"

#include "toolkit/check.h"

namespace {

constexpr int kBlock = 192;

// Each thread brings its own element. The first 2 * kRadius threads bring one more: the halves of
// the halo before and behind the block's elements.
__global__ void sum_windows(const float* in, float* out, int n) {
  __shared__ float near[kRadius + kBlock + kRadius];
  const int me = threadIdx.x;
  const int first = kBlock * blockIdx.x;

  near[kRadius + me] = first + me < n ? in[first + me] : 0.0f;
  if (me < kRadius) {
    const int before = first - kRadius + me;
    near[me] = before >= 0 ? in[before] : 0.0f;
  } else if (me < 2 * kRadius) {
    const int behind = first + kBlock + me - kRadius;
    near[kBlock + me] = behind < n ? in[behind] : 0.0f;
  }
  __syncthreads();

  if (first + me < n) {
    float total = near[kRadius + me];
    for (int away = 1; away <= kRadius; ++away) {
      total += near[kRadius + me - away] + near[kRadius + me + away];
    }
    out[first + me] = total;
  }
}

}  // namespace

void window_sums(const float* x, float* y, int n) {
  sum_windows<<<(n + kBlock - 1) / kBlock, kBlock>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
