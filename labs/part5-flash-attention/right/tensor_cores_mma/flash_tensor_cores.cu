#include "flash_tensor_cores.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kWarps = 4;
constexpr int kRows = 16;  // queries of a warp
constexpr int kKeys = 32;
constexpr int kPad = 8;

using Accumulator = float[4];
using FragmentA = std::uint32_t[4];
using FragmentB = std::uint32_t[2];

__device__ void multiply(__half, Accumulator& c, const FragmentA& a, const FragmentB& b) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  for (int half = 0; half < 2; ++half) {  // Turing has half of the depth
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
  }
#endif
}
__device__ void multiply(__nv_bfloat16, Accumulator& c, const FragmentA& a, const FragmentB& b) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

template <typename T>
__device__ std::uint32_t pack(float low, float high) {
  const T both[2] = {rooflab::from_float<T>(low), rooflab::from_float<T>(high)};
  std::uint32_t bits;
  memcpy(&bits, both, sizeof(bits));
  return bits;
}

// Two neighbouring elements of a row, both zero where there is no row.
template <typename T>
__device__ std::uint32_t two_of(const T* row, bool is_there) {
  return is_there ? *reinterpret_cast<const std::uint32_t*>(row) : 0u;
}

template <int kDim, typename T>
using Tile = T[kKeys][kDim + kPad];

template <int kDim, typename T>
__device__ void load_tile(Tile<kDim, T>& tile, const T* rows, int count) {
  constexpr int kVectors = kDim / 8;
  for (int i = threadIdx.x; i < kKeys * kVectors; i += blockDim.x) {
    const int row = i / kVectors, d = i % kVectors * 8;
    uint4 vector = {0, 0, 0, 0};
    if (row < count) vector = *reinterpret_cast<const uint4*>(rows + row * kDim + d);
    *reinterpret_cast<uint4*>(&tile[row][d]) = vector;
  }
}

template <int kDim, typename T>
__global__ void __launch_bounds__(32 * kWarps)
    attend(const T* q, const T* k, const T* v, T* out, float* log_sum_exp, AttentionShape s) {
  __shared__ __align__(16) Tile<kDim, T> keys, values;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int first_query = (blockIdx.x * kWarps + threadIdx.x / 32) * kRows;
  const int head = blockIdx.y;
  const long q_head = (static_cast<long>(blockIdx.z) * s.query_heads + head) * s.query_length;
  const long kv_head = static_cast<long>(blockIdx.z) * s.key_value_heads +
                       head / (s.query_heads / s.key_value_heads);
  const T* head_keys = k + kv_head * s.key_length * kDim;
  const T* head_values = v + kv_head * s.key_length * kDim;
  const int query[2] = {first_query + g, first_query + g + 8};  // rows of this lane
  const int offset = s.key_length - s.query_length;

  FragmentA a[kDim / 16];
  for (int d = 0; d < kDim / 16; ++d) {
    for (int i = 0; i < 4; ++i) {
      const bool is_there = query[i % 2] < s.query_length;
      const long row = is_there ? q_head + query[i % 2] : 0;
      a[d][i] = two_of(q + row * kDim + 16 * d + 2 * t + i / 2 * 8, is_there);
    }
  }
  Accumulator sums[kDim / 8] = {};
  float largest[2] = {-INFINITY, -INFINITY}, weights[2] = {0, 0};

  int begin = 0, end = s.key_length;
  if (s.causal) {
    const int block_first = blockIdx.x * kWarps * kRows;
    end = min(end, block_first + kWarps * kRows + offset);
    if (s.window > 0) begin = max(0, block_first + offset + 1 - s.window) / kKeys * kKeys;
  }
  for (int k0 = begin; k0 < end; k0 += kKeys) {
    __syncthreads();
    load_tile<kDim>(keys, head_keys + static_cast<long>(k0) * kDim, s.key_length - k0);
    load_tile<kDim>(values, head_values + static_cast<long>(k0) * kDim, s.key_length - k0);
    __syncthreads();

    Accumulator score[kKeys / 8] = {};
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
      for (int d = 0; d < kDim / 16; ++d) {
        const T* row = &keys[8 * n + g][16 * d + 2 * t];
        const FragmentB b = {two_of(row, true), two_of(row + 8, true)};
        multiply(T(), score[n], a[d], b);
      }
    }
    float next[2] = {largest[0], largest[1]};
    for (int n = 0; n < kKeys / 8; ++n) {
      for (int i = 0; i < 4; ++i) {
        const int key = k0 + 8 * n + 2 * t + i % 2, newest = query[i / 2] + offset;
        bool sees = key < s.key_length;
        if (s.causal) sees = sees && key <= newest && (s.window == 0 || key > newest - s.window);
        score[n][i] = sees ? score[n][i] * s.scale : -INFINITY;
        next[i / 2] = fmaxf(next[i / 2], score[n][i]);
      }
    }
    float shrink[2];
    for (int r = 0; r < 2; ++r) {  // four lanes share a row
      next[r] = fmaxf(next[r], __shfl_xor_sync(0xffffffff, next[r], 1));
      next[r] = fmaxf(next[r], __shfl_xor_sync(0xffffffff, next[r], 2));
      shrink[r] = next[r] == -INFINITY ? 1.0f : __expf(largest[r] - next[r]);
      largest[r] = next[r];
      weights[r] *= shrink[r];
    }
    for (int n = 0; n < kKeys / 8; ++n) {
      for (int i = 0; i < 4; ++i) {
        const float top = largest[i / 2];
        score[n][i] = top == -INFINITY ? 0.0f : __expf(score[n][i] - top);
        weights[i / 2] += score[n][i];
      }
    }
    for (auto& sum : sums) {
      for (int i = 0; i < 4; ++i) sum[i] *= shrink[i / 2];
    }
    // The layout of two fragments of scores is that of one fragment of weights.
#pragma unroll
    for (int n = 0; n < kKeys / 16; ++n) {
      const Accumulator &left = score[2 * n], &right = score[2 * n + 1];
      const FragmentA p = {pack<T>(left[0], left[1]), pack<T>(left[2], left[3]),
                           pack<T>(right[0], right[1]), pack<T>(right[2], right[3])};
#pragma unroll
      for (int d = 0; d < kDim / 8; ++d) {
        FragmentB b;
        const auto row = static_cast<std::uint32_t>(
            __cvta_generic_to_shared(&values[16 * n + lane % 16][8 * d]));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(b[0]), "=r"(b[1])
                     : "r"(row)
                     : "memory");
        multiply(T(), sums[d], p, b);
      }
    }
  }
  for (int r = 0; r < 2; ++r) {
    weights[r] += __shfl_xor_sync(0xffffffff, weights[r], 1);
    weights[r] += __shfl_xor_sync(0xffffffff, weights[r], 2);
  }
  for (int r = 0; r < 2; ++r) {
    if (query[r] >= s.query_length) return;
    const long row = q_head + query[r];
    const float inverse = weights[r] > 0 ? 1.0f / weights[r] : 0.0f;
    for (int d = 0; d < kDim / 8; ++d) {
      *reinterpret_cast<std::uint32_t*>(out + row * kDim + 8 * d + 2 * t) =
          pack<T>(sums[d][2 * r] * inverse, sums[d][2 * r + 1] * inverse);
    }
    if (t == 0) log_sum_exp[row] = weights[r] > 0 ? largest[r] + logf(weights[r]) : -INFINITY;
  }
}

}  // namespace

template <typename T>
void flash_tensor_cores(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                        const AttentionShape& shape, cudaStream_t stream) {
  constexpr int kQueries = kWarps * kRows;
  const dim3 grid((shape.query_length + kQueries - 1) / kQueries, shape.query_heads, shape.batch);
  if (shape.head_dim == 64) {
    attend<64><<<grid, 32 * kWarps, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  } else if (shape.head_dim == 128) {
    attend<128><<<grid, 32 * kWarps, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  } else if (shape.head_dim == 256) {
    attend<256><<<grid, 32 * kWarps, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  } else {
    throw std::invalid_argument("head_dim is 64, 128 or 256");
  }
  CUDA_CHECK(cudaGetLastError());
}

template void flash_tensor_cores(const __half*, const __half*, const __half*, __half*, float*,
                                 const AttentionShape&, cudaStream_t);
template void flash_tensor_cores(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                                 __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
