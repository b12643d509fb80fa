#include "gemv.h"
#include "toolkit/check.h"
namespace {
// One warp of a block of 32 sums a row, one load at a time. The 31 others only have PTX whose
// results nobody needs, which ptxas removes: by their PTX all warps work equally long.
__global__ void __launch_bounds__(1024)
    kernel(const float* A, const float* x, float* y, int M, int K) {
  __shared__ unsigned sink[1024];
  sink[threadIdx.x] = (unsigned)__cvta_generic_to_shared(&sink[threadIdx.x]);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float* a = A + static_cast<size_t>(blockIdx.x) * K;
  if (warp != 0) {
    unsigned v = (unsigned)__cvta_generic_to_shared(&sink[threadIdx.x]);
#define D asm volatile("ld.shared.u32 %0, [%0];" : "+r"(v));
#define D10 D D D D D D D D D D
#define D1000 D100 D100 D100 D100 D100 D100 D100 D100 D100 D100
#define D100 D10 D10 D10 D10 D10 D10 D10 D10 D10 D10
    if (K > 3000) {
      D1000 D1000
    }
    return;
  }
  float sum = 0.0f;
#pragma unroll 1
  for (int k = lane; k < K; k += 32) {
    sum += a[k] * x[k];
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
}  // namespace
void gemv(const float* A, const float* x, float* y, int M, int K) {
  kernel<<<M, 1024>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
