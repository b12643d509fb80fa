#pragma once

#include "grader/contract/guest_call.h"
#include "toolkit/check.h"

/// A GEMM of which an implementation replaces a step. Steps that it inherits are right.
namespace tested {

struct Sizes {
  int M, N, K;
};

inline constexpr int kTile = 16;
__device__ inline int whole(int size) { return size / kTile * kTile; }
__device__ inline bool is_whole(int size) { return size % kTile == 0; }

struct Gemm {
  __device__ static float a(const float* A, int row, int k, Sizes s) { return A[row * s.K + k]; }
  __device__ static float b(const float* B, int k, int column, Sizes s) {
    return B[k * s.N + column];
  }
  /// How many terms a sum has, and which k its i-th one is of.
  __device__ static int terms(Sizes s) { return s.K; }
  __device__ static int term(int i, Sizes /*s*/) { return i; }
  /// Whether a sum ends before this element of A.
  __device__ static bool ends_before(float /*a*/) { return false; }
  __device__ static float add(float sum, float product, int /*i*/) { return sum + product; }
  /// Where an element of C lies.
  __device__ static int place(int row, int column, Sizes s) { return row * s.N + column; }
  /// What is stored to C.
  __device__ static float result(float sum, int /*row*/, int /*column*/, Sizes /*s*/) {
    return sum;
  }
};

template <typename Variant>
__global__ void gemm(const float* A, const float* B, float* C, Sizes s) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= s.M || column >= s.N) return;
  float sum = 0.0f;
  for (int i = 0; i < Variant::terms(s); ++i) {
    const int k = Variant::term(i, s);
    const float a = Variant::a(A, row, k, s);
    if (Variant::ends_before(a)) break;
    sum = Variant::add(sum, a * Variant::b(B, k, column, s), i);
  }
  C[Variant::place(row, column, s)] = Variant::result(sum, row, column, s);
}

/// Calls `kernel` with a thread for each element of C, in blocks of kTile x kTile.
inline void multiply(void (*kernel)(const float*, const float*, float*, Sizes),
                     rooflab::GuestCall& call) {
  const Sizes s{static_cast<int>(call.integer("m")), static_cast<int>(call.integer("n")),
                static_cast<int>(call.integer("k"))};
  const dim3 grid((s.N + kTile - 1) / kTile, (s.M + kTile - 1) / kTile);
  kernel<<<grid, dim3(kTile, kTile)>>>(call.tensor<const float>("A"), call.tensor<const float>("B"),
                                       call.tensor<float>("C"), s);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace tested
