#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "toolkit/vectors.h"

/// Tensor cores, by the instructions mma.sync and ldmatrix. One of them computes
///
///   sums (16, 8) += a (16, 16) b (16, 8)
///
/// for a warp, all of whose 32 lanes call together. The three matrices are fragments: each lane
/// holds a few elements in registers. With
///
///   row = lane / 4,   column = lane % 4 * 2
///
/// a lane holds
///
///   Sums        value[0], value[1]   row,       column and column + 1
///   (16, 8)     value[2], value[3]   row + 8,   column and column + 1
///
///   FragmentA   pair[0]              row,       column and column + 1
///   (16, 16)    pair[1]              row + 8,   column and column + 1
///               pair[2]              row,       column + 8 and column + 9
///               pair[3]              row + 8,   column + 8 and column + 9
///
/// so that the four lanes of a row are neighbours. T is __half or __nv_bfloat16. A GPU of compute
/// capability 7.5 has no bf16 on its tensor cores: there, functions for it compile and do nothing.

/// fp32, sums of products.
struct Sums {
  float value[4] = {};
};

/// A register of `pair` holds two neighbours of a row, the left one in its lower half.
template <typename T>
struct FragmentA {
  std::uint32_t pair[4];
};

/// Its layout is what load_b and load_b_transposed make of it.
template <typename T>
struct FragmentB {
  std::uint32_t pair[2];
};

/// Two neighbours of a row, rounded to T, as one register of a FragmentA.
template <typename T>
__device__ std::uint32_t pack(float left, float right) {
  union {
    T values[2];
    std::uint32_t pair;
  } packed = {{rooflab::from_float<T>(left), rooflab::from_float<T>(right)}};
  return packed.pair;
}

/// a = tile, (16, 16). The tiles of this and the next two functions lie in shared memory. Their
/// rows are `stride` elements apart and start at multiples of 16 bytes.
template <typename T>
__device__ void load_a(const T* tile, int stride, FragmentA<T>& a) {
  const int lane = threadIdx.x % 32;
  const T* row = tile + lane % 16 * stride + lane / 16 * 8;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a.pair[0]), "=r"(a.pair[1]), "=r"(a.pair[2]), "=r"(a.pair[3])
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// b[0] (16, 8) = the left half of tile (16, 16), b[1] its right half.
template <typename T>
__device__ void load_b(const T* tile, int stride, FragmentB<T> (&b)[2]) {
  const int lane = threadIdx.x % 32;
  const T* row = tile + lane % 16 * stride + lane / 16 * 8;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(b[0].pair[0]), "=r"(b[0].pair[1]), "=r"(b[1].pair[0]), "=r"(b[1].pair[1])
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// b[0] (16, 8) = the upper half of tile (16, 16), transposed, b[1] its lower half, transposed: the
/// columns of b[0] are rows 0 to 7 of the tile, those of b[1] are rows 8 to 15.
template <typename T>
__device__ void load_b_transposed(const T* tile, int stride, FragmentB<T> (&b)[2]) {
  const int lane = threadIdx.x % 32;
  const T* row = tile + (lane / 16 * 8 + lane % 8) * stride + lane / 8 % 2 * 8;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(b[0].pair[0]), "=r"(b[0].pair[1]), "=r"(b[1].pair[0]), "=r"(b[1].pair[1])
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// sums += a b.
template <typename T>
__device__ void multiply_add(const FragmentA<T>& a, const FragmentB<T>& b, Sums& sums) {
  float(&s)[4] = sums.value;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, __half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
        : "r"(a.pair[0]), "r"(a.pair[1]), "r"(a.pair[2]), "r"(a.pair[3]), "r"(b.pair[0]),
          "r"(b.pair[1]));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
        : "r"(a.pair[0]), "r"(a.pair[1]), "r"(a.pair[2]), "r"(a.pair[3]), "r"(b.pair[0]),
          "r"(b.pair[1]));
  }
#else
  if constexpr (std::is_same_v<T, __half>) {
    for (int half = 0; half < 2; ++half) {  // an instruction of compute capability 7.5 has depth 8
      asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
          "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
          : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
          : "r"(a.pair[2 * half]), "r"(a.pair[2 * half + 1]), "r"(b.pair[half]));
    }
  }
#endif
}
