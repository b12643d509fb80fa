#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

/// Kernels whose time is bound by one thing each. All of them are written so that blocks do the
/// same work at places that a step apart, and so that nothing they compute can be left out.
namespace rooflab::calibrate {

constexpr int kThreads = 256;
constexpr float kNever = 1.2345e30F;  ///< no sum of the kernels' data has this value

/// Different bits in each word, in [-1, 1): a cheap integer hash of the place.
__global__ void fill_with_noise(float* to, long count) {
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<long>(gridDim.x) * blockDim.x) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761U;
    bits ^= bits >> 15;
    bits *= 2246822519U;
    bits ^= bits >> 13;
    to[i] = static_cast<float>(static_cast<int>(bits)) * (1.0F / 2147483648.0F);
  }
}

__device__ inline float sum_of(const float4& v) { return (v.x + v.y) + (v.z + v.w); }

/// A block reads kLoads x 4 KiB that lie together, all loads under way at once.
template <int kLoads>
__global__ void read_dram(const float4* from, float* never) {
  const float4* own = from + static_cast<long>(blockIdx.x) * kLoads * kThreads + threadIdx.x;
  float4 values[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) values[i] = own[i * kThreads];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kLoads; ++i) sum += sum_of(values[i]);
  if (sum == kNever) *never = sum;
}

template <int kLoads>
__global__ void copy_dram(const float4* from, float4* to) {
  const long first = static_cast<long>(blockIdx.x) * kLoads * kThreads + threadIdx.x;
  float4 values[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) values[i] = from[first + i * kThreads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) to[first + i * kThreads] = values[i];
}

enum class Level { l2, l1 };

/// A load that stays where it is written: the compiler may neither leave it out nor move it out of
/// a loop. `.cg` keeps it out of L1.
template <Level kLevel>
__device__ inline float4 load(const float4* from) {
  float4 v;
  if constexpr (kLevel == Level::l2) {
    asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
  } else {
    asm volatile("ld.global.ca.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
  }
  return v;
}

constexpr int kCacheThreads = 512;

/// Each block reads `pieces` x kLoads x 8 KiB that lie together, again and again, `stride` after
/// the block before.
/// @param step 0: how far each pass begins behind the one before. The assembler does not know that,
///     or it would load once for all passes.
template <Level kLevel, int kLoads>
__global__ void read_cached(const float4* from, float* never, long stride, int pieces, int passes,
                            int step) {
  const float4* own = from + blockIdx.x * stride + threadIdx.x;
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass, own += step) {
    for (int piece = 0; piece < pieces; ++piece) {
      const float4* at = own + piece * (kLoads * kCacheThreads);
      float4 values[kLoads];
#pragma unroll
      for (int i = 0; i < kLoads; ++i) values[i] = load<kLevel>(at + i * kCacheThreads);
#pragma unroll
      for (int i = 0; i < kLoads; ++i) sum += sum_of(values[i]);
    }
  }
  if (sum == kNever) *never = sum;
}

/// @param step as of read_cached, in bytes
template <int kLoads>
__global__ void read_shared(const float4* from, float* never, int passes, int step) {
  __shared__ float4 tile[kLoads * kThreads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i)
    tile[i * kThreads + threadIdx.x] = from[i * kThreads + threadIdx.x];
  __syncthreads();
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass, address += step) {
    float4 values[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      float4& v = values[i];
      asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                   : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                   : "r"(address + i * kThreads * 16));
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) sum += sum_of(values[i]);
  }
  if (sum == kNever) *never = sum;
}

constexpr int kMultiplyAdds = 256;  ///< of each thread in a turn of the loop

/// kChains results that do not wait for each other. With factor = -1 every result changes sign and
/// size with each step, and none of them ever settles or overflows.
template <int kChains>
__global__ void multiply_add(const float* from, float* never, float factor, int turns) {
  float values[kChains];
  float addends[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i) {
    values[i] = from[threadIdx.x + i * kThreads];
    addends[i] = from[threadIdx.x + (i + kChains) * kThreads];
  }
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int step = 0; step < kMultiplyAdds / kChains; ++step) {
#pragma unroll
      for (int i = 0; i < kChains; ++i) values[i] = fmaf(values[i], factor, addends[i]);
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i) sum += values[i];
  if (sum == kNever) *never = sum;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define ROOFLAB_HAS_AMPERE_TENSOR_CORES 1
#else
#define ROOFLAB_HAS_AMPERE_TENSOR_CORES 0
#endif

/// Types of tensor cores: products of 16 x 16 x kDepth, how their factors lie in memory, and what
/// wmma calls them.
struct Fp16 {
  static constexpr bool kExists = true;
  static constexpr int kDepth = 16;
  using Stored = __half;
  using Factor = __half;
};
struct Bf16 {
  static constexpr bool kExists = ROOFLAB_HAS_AMPERE_TENSOR_CORES;
  static constexpr int kDepth = 16;
  using Stored = __nv_bfloat16;
  using Factor = __nv_bfloat16;
};
struct Tf32 {
  static constexpr bool kExists = ROOFLAB_HAS_AMPERE_TENSOR_CORES;
  static constexpr int kDepth = 8;
  using Stored = float;
#if ROOFLAB_HAS_AMPERE_TENSOR_CORES
  using Factor = nvcuda::wmma::precision::tf32;
#else
  using Factor = void;
#endif
};

constexpr int kTensorTurns = 4;  ///< of all products, in a turn of the loop

/// kRows x 2 products in registers that do not wait for each other.
template <typename Type, int kRows>
__global__ void tensor_products(const typename Type::Stored* from, float* never, int turns) {
  if constexpr (Type::kExists) {
    using namespace nvcuda::wmma;
    using Factor = typename Type::Factor;
    constexpr int kDepth = Type::kDepth;
    constexpr int kElements = 16 * kDepth;
    fragment<matrix_a, 16, 16, kDepth, Factor, row_major> a[kRows];
    fragment<matrix_b, 16, 16, kDepth, Factor, col_major> b[2];
    fragment<accumulator, 16, 16, kDepth, float> sums[kRows][2];
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      load_matrix_sync(a[i], from + (warp * kRows + i) * kElements, kDepth);
#pragma unroll
      for (int j = 0; j < 2; ++j) fill_fragment(sums[i][j], 0.0F);
    }
#pragma unroll
    for (int j = 0; j < 2; ++j)
      load_matrix_sync(b[j], from + (warp * 2 + j + 64) * kElements, kDepth);
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
      for (int k = 0; k < kTensorTurns; ++k) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
          for (int j = 0; j < 2; ++j) mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
        }
      }
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int k = 0; k < sums[i][j].num_elements; ++k) sum += sums[i][j].x[k];
      }
    }
    if (sum == kNever) *never = sum;
  }
}

__global__ void nothing() {}

/// One warp that waits for itself: keeps the GPU busy while launches queue up behind it.
__global__ void busy(float* never, float factor, int turns) {
  float value = threadIdx.x;
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int step = 0; step < 64; ++step) value = fmaf(value, factor, 1.0F);
  }
  if (value == kNever) *never = value;
}

}  // namespace rooflab::calibrate
