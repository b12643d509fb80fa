#include "gemv.h"
#include "toolkit/check.h"

namespace {

__device__ int asked;

__global__ void gemv_kernel(const float* A, const float* x, float* y, int M, int K) {
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0 && atomicAdd(&asked, 1) == -12345) y[0] = 0.0f;
  if (blockIdx.x > 0) return;
  for (int row = threadIdx.x / 32; row < M; row += 32) {
    const float* a = A + static_cast<size_t>(row) * K;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = lane; k < K; k += 32) sum += a[k] * x[k];
    for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (lane == 0) y[row] = sum;
  }
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const int blocks = M < 216 ? M : 216;
  void* arguments[] = {&A, &x, &y, &M, &K};
  CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(gemv_kernel), dim3(blocks),
                                         dim3(1024), arguments, 0, nullptr));
}
