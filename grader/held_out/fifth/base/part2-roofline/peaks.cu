#include "peaks.h"

#include "toolkit/check.h"

namespace {

constexpr int kChains = 4;   // of a thread
constexpr int kThreads = 128;

__global__ void chains(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                       float b) {
  const std::int64_t threads = std::int64_t{gridDim.x} * kThreads;
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * threads;
    x[c] = i < n ? in[i] : 0.0f;
  }
#pragma unroll 8
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = fmaf(a, x[c], b);
  }
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * threads;
    if (i < n) out[i] = x[c];
  }
}

__device__ float across(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__global__ void chunk(const float* in, float* sums, std::int64_t n) {
  __shared__ float partial[kThreads / 32];
  const std::int64_t begin = blockIdx.x * kChunk;
  const int size = static_cast<int>(n - begin < kChunk ? n - begin : kChunk);
  const float4* vectors = reinterpret_cast<const float4*>(in + begin);
  const int whole = size / 4;

  float mine = 0.0f;
  for (int i = threadIdx.x; i < whole; i += kThreads) mine += across(vectors[i]);
  const int rest = whole * 4 + threadIdx.x;
  if (rest < size) mine += in[begin + rest];

  for (int d = 16; d; d >>= 1) mine += __shfl_down_sync(0xffffffff, mine, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    float all = threadIdx.x < kThreads / 32 ? partial[threadIdx.x] : 0.0f;
    for (int d = 16; d; d >>= 1) all += __shfl_down_sync(0xffffffff, all, d);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
  }
}

}  // namespace

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  const std::int64_t per_block = kThreads * kChains;
  chains<<<unsigned((n + per_block - 1) / per_block), kThreads>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  chunk<<<unsigned((n + kChunk - 1) / kChunk), kThreads>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
