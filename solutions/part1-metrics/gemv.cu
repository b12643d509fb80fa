#include "gemv.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: the lanes of a warp share one row, then add up their sums.
namespace {

constexpr int kWarpSize = 32;
constexpr int kWarpsPerBlock = 8;
constexpr unsigned kAllLanes = 0xffffffff;

// Sum of `value` over the lanes of a warp, in lane 0.
__device__ float warp_sum(float value) {
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  return value;
}

__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

__global__ void gemv_kernel(const float* A, const float* x, float* y, int M, int K) {
  const int lane = threadIdx.x % kWarpSize;
  const int row = blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarpSize;
  if (row >= M) return;  // the whole warp leaves together
  const float* a = A + static_cast<size_t>(row) * K;

  float sum = 0.0f;
  // A float4 must lie at a multiple of 16 bytes, which every row does only when K is a multiple
  // of 4.
  if (K % 4 == 0) {
    const float4* a4 = reinterpret_cast<const float4*>(a);
    const float4* x4 = reinterpret_cast<const float4*>(x);
#pragma unroll 4  // several loads under way at once hide the latency of DRAM
    for (int k = lane; k < K / 4; k += kWarpSize) sum += dot(a4[k], x4[k]);
  } else {
    for (int k = lane; k < K; k += kWarpSize) sum += a[k] * x[k];
  }

  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}

}  // namespace
// END SOLUTION

void gemv(const float* A, const float* x, float* y, int M, int K) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("give each row one warp; lane i takes elements i, i + 32, i + 64");
  const int blocks = (M + kWarpsPerBlock - 1) / kWarpsPerBlock;
  gemv_kernel<<<blocks, kWarpsPerBlock * kWarpSize>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
