#include "peaks.h"

#include <algorithm>

#include "toolkit/check.h"

namespace {

constexpr int kThreads = 128;
constexpr int kSideBySide = 4;

// A thread has several chains, a grid apart.
__global__ void chains(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                       float b) {
  const std::int64_t apart = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float x[kSideBySide];
#pragma unroll
  for (int c = 0; c < kSideBySide; ++c) {
    const std::int64_t i = first + c * apart;
    x[c] = i < n ? in[i] : 0.0f;
  }
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma unroll
    for (int c = 0; c < kSideBySide; ++c) x[c] = fmaf(a, x[c], b);
  }
#pragma unroll
  for (int c = 0; c < kSideBySide; ++c) {
    const std::int64_t i = first + c * apart;
    if (i < n) out[i] = x[c];
  }
}

// A block for each chunk.
__global__ void chunk_sums(const float* in, float* sums, std::int64_t n) {
  __shared__ float halves[kThreads];
  const std::int64_t begin = blockIdx.x * kChunk;
  const int length = static_cast<int>(min(kChunk, n - begin));
  const float* chunk = in + begin;
  float mine = 0.0f;
  const int quads = length / 4;
  for (int q = threadIdx.x; q < quads; q += kThreads) {
    const float4 v = reinterpret_cast<const float4*>(chunk)[q];
    mine += (v.x + v.y) + (v.z + v.w);
  }
  for (int i = 4 * quads + threadIdx.x; i < length; i += kThreads) mine += chunk[i];
  halves[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) halves[threadIdx.x] += halves[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = halves[0];
}

}  // namespace

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  const std::int64_t of_block = kThreads * kSideBySide;
  const auto blocks = static_cast<unsigned>((n + of_block - 1) / of_block);
  chains<<<blocks, kThreads>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  chunk_sums<<<static_cast<unsigned>((n + kChunk - 1) / kChunk), kThreads>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
