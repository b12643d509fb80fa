#include <cstdint>

#include "gemm.h"
#include "toolkit/check.h"

constexpr int kTile = 16;
constexpr int kBuffers = 3;

// 4 bytes, of which those beyond `is_inside` are zeros. A GPU before compute capability 8.0 has no
// asynchronous copies: it copies at once.
__device__ void copy_async(float* to, const float* from, bool is_inside) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = is_inside ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes)
               : "memory");
#else
  *to = is_inside ? *from : 0.0f;
#endif
}
__device__ void commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int kLater>
__device__ void wait_for_all_but() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kLater) : "memory");
#endif
}

__global__ void asynchronous(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[kBuffers][kTile][kTile];
  __shared__ float b[kBuffers][kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  const int tiles = (K + kTile - 1) / kTile;

  auto start = [&](int tile) {
    if (tile < tiles) {
      const int ka = tile * kTile + x, kb = tile * kTile + y;
      const bool in_a = row < M && ka < K, in_b = kb < K && column < N;
      copy_async(&a[tile % kBuffers][y][x], in_a ? A + row * K + ka : A, in_a);
      copy_async(&b[tile % kBuffers][y][x], in_b ? B + kb * N + column : B, in_b);
    }
    commit();  // an empty group too, so that the count of groups stays right
  };

  start(0);
  start(1);
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    wait_for_all_but<1>();
    __syncthreads();
    start(tile + 2);  // into the buffer that was read before this barrier
    const int buffer = tile % kBuffers;
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += a[buffer][y][k] * b[buffer][k][x];
  }
  if (row < M && column < N) C[row * N + column] = sum;
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
  asynchronous<<<grid, dim3(kTile, kTile)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
