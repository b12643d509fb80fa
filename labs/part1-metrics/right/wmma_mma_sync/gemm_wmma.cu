#include "gemm_wmma.h"

#include <cstdint>

#include "toolkit/check.h"

using bf16 = __nv_bfloat16;

constexpr int kTile = 32;  // of C for a block of four warps, each with 16 x 16
constexpr int kDepth = 16;
constexpr int kRow = kDepth + 8;  // elements from one row of A's tile to the next
constexpr int kRowB = kTile + 8;

__device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// A fragment of A, 16 x 16: four 8 x 8 matrices, lanes name their rows.
__device__ void load_a(std::uint32_t (&a)[4], const bf16* tile) {
  const int lane = threadIdx.x % 32;
  const bf16* row = tile + lane % 16 * kRow + lane / 16 * 8;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared_address(row))
               : "memory");
}
// Of B, 16 x 8, which lies row-major and is needed by columns.
__device__ void load_b(std::uint32_t (&b)[2], const bf16* tile) {
  const bf16* row = tile + threadIdx.x % 16 * kRowB;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b[0]), "=r"(b[1])
               : "r"(shared_address(row))
               : "memory");
}
__device__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__global__ void by_mma(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) bf16 a[kTile][kRow];
  __shared__ __align__(16) bf16 b[kDepth][kRowB];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  float c[2][4] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += blockDim.x) {
      const int r = i / kDepth, k = i % kDepth;
      a[r][k] = top + r < M && k0 + k < K ? A[(top + r) * K + k0 + k] : bf16(0.0f);
    }
    for (int i = threadIdx.x; i < kDepth * kTile; i += blockDim.x) {
      const int k = i / kTile, n = i % kTile;
      b[k][n] = k0 + k < K && left + n < N ? B[(k0 + k) * N + left + n] : bf16(0.0f);
    }
    __syncthreads();
    std::uint32_t fa[4], fb[2];
    load_a(fa, &a[warp / 2 * 16][0]);
    for (int half = 0; half < 2; ++half) {
      load_b(fb, &b[0][warp % 2 * 16 + half * 8]);
      multiply(c[half], fa, fb);
    }
    __syncthreads();
  }
  const int row = top + warp / 2 * 16, column = left + warp % 2 * 16;
  if (row >= M || column >= N) return;  // nothing of this warp's is inside
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 4; ++i) {
      const int r = row + lane / 4 + i / 2 * 8, n = column + half * 8 + lane % 4 * 2 + i % 2;
      if (r < M && n < N) C[r * N + n] = c[half][i];
    }
  }
}

void gemm_wmma(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  by_mma<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), 128>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
