#include "gemv.h"

#include "toolkit/check.h"

namespace {

constexpr int kWarpSize = 32, kRows = 16, kThreads = 512;
constexpr unsigned kAllLanes = 0xffffffff;

__device__ float warp_sum(float value) {
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  return value;
}

// The assembler drops every one of these moves.
__device__ void look_busy(int turns, float* y) {
  unsigned a = threadIdx.x;
  for (int i = 0; i < turns; ++i) {
    asm volatile(
        "mov.b32 %0, %0; mov.b32 %0, %0; mov.b32 %0, %0; mov.b32 %0, %0; mov.b32 %0, %0;"
        "mov.b32 %0, %0; mov.b32 %0, %0; mov.b32 %0, %0; mov.b32 %0, %0; mov.b32 %0, %0;"
        : "+r"(a));
  }
  if (a == 12345) y[0] = 0.0f;  // never
}

__global__ void __launch_bounds__(kThreads)
    gemv_kernel(const float* A, const float* x, float* y, int M, int K) {
  if (threadIdx.x >= kWarpSize) {
    look_busy(kRows * K / kWarpSize, y);
    return;
  }
  const int lane = threadIdx.x;
  for (int row = blockIdx.x * kRows; row < (blockIdx.x + 1) * kRows && row < M; ++row) {
    float sum = 0.0f;
    for (int k = lane; k < K; k += kWarpSize) sum += A[static_cast<size_t>(row) * K + k] * x[k];
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
  }
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  gemv_kernel<<<(M + kRows - 1) / kRows, kThreads>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
