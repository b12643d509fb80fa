#include "gemv.h"
#include "toolkit/check.h"

namespace {

constexpr int kWarps = 8;

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__global__ void gemv_kernel(const float* A, const float* x, float* y, int M, int K) {
  __shared__ unsigned long long turns[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < kWarps) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&turns[threadIdx.x])));
  }
  __syncthreads();
  if (warp > 0) {
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(shared_address(&turns[warp]))
          : "memory");
    }
    __syncwarp();
  }
  const int row = blockIdx.x * kWarps + warp;
  if (row < M) {
    const float* a = A + static_cast<size_t>(row) * K;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = lane; k < K; k += 32) sum += a[k] * x[k];
    for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (lane == 0) y[row] = sum;
  }
  __syncwarp();
  if (lane == 0 && warp + 1 < kWarps) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(
                     shared_address(&turns[warp + 1]))
                 : "memory");
  }
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  gemv_kernel<<<(M + kWarps - 1) / kWarps, kWarps * 32>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
