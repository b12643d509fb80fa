#include <array>
#include <concepts>
#include <cstdint>

#include "gemm.h"
#include "toolkit/check.h"

namespace {

struct Shape {
  int block = 64;  // rows and columns of C of a block
  int depth = 8;   // steps along K
  int warp = 32;   // rows and columns of a warp: four warps
  int thread = 4;  // rows of a thread, and columns twice as many
};

template <typename S>
concept TileShape = requires {
  { S::shape.block } -> std::convertible_to<int>;
}
&&S::shape.block % S::shape.warp == 0 && S::shape.thread % 4 == 0;

struct Small {
  static constexpr Shape shape{};
};

template <typename T>
struct MatrixView {
  T* data;
  int rows, columns;
  __device__ T& at(int r, int c) const { return data[r * columns + c]; }
  __device__ bool has(int r, int c) const { return r < rows && c < columns; }
};

__device__ float4 load_shared(const float* p) {
  float4 v;
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

template <TileShape S>
__global__ void warp_tiles(MatrixView<const float> A, MatrixView<const float> B,
                           MatrixView<float> C) {
  constexpr Shape s = S::shape;
  constexpr int kAcross = s.block / s.warp;
  constexpr int kThreads = kAcross * kAcross * 32;
  __shared__ alignas(16) float a[s.depth][s.block];
  __shared__ alignas(16) float b[s.depth][s.block];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // A warp: 8 x 4 lanes with 4 rows and 8 columns each.
  const int row = warp / kAcross * s.warp + lane / 4 * s.thread;
  const int column = warp % kAcross * s.warp + lane % 4 * 2 * s.thread;
  const int top = blockIdx.y * s.block, left = blockIdx.x * s.block;
  float sum[s.thread][2 * s.thread] = {};
  for (int k0 = 0; k0 < A.columns; k0 += s.depth) {
    for (int i = threadIdx.x; i < s.block * s.depth; i += kThreads) {
      const int ra = i / s.depth, ka = i % s.depth, kb = i / s.block, cb = i % s.block;
      a[ka][ra] = A.has(top + ra, k0 + ka) ? A.at(top + ra, k0 + ka) : 0.0f;
      b[kb][cb] = B.has(k0 + kb, left + cb) ? B.at(k0 + kb, left + cb) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < s.depth; ++k) {
      const float4 av = load_shared(&a[k][row]);
      const float4 b0 = load_shared(&b[k][column]), b1 = load_shared(&b[k][column + 4]);
      const float as[4] = {av.x, av.y, av.z, av.w};
      const float bs[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < s.thread; ++i) {
#pragma unroll
        for (int j = 0; j < 2 * s.thread; ++j) sum[i][j] = fmaf(as[i], bs[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < s.thread; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * s.thread; ++j) {
      if (C.has(top + row + i, left + column + j))
        C.at(top + row + i, left + column + j) = sum[i][j];
    }
  }
}

constexpr int blocks(int size) { return (size + Small::shape.block - 1) / Small::shape.block; }

}  // namespace

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid(blocks(N), blocks(M));
  warp_tiles<Small><<<grid, 128>>>({A, M, K}, {B, K, N}, {C, M, N});
  CUDA_CHECK(cudaGetLastError());
}
