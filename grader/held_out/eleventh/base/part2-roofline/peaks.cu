#include "peaks.h"

#include "toolkit/check.h"

namespace {

constexpr int kTeam = 128;
constexpr int kChains = 6;  // of one thread, kTeam apart

__global__ void chains(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                       float b) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTeam * kChains + threadIdx.x;
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * kTeam;
    x[c] = i < n ? in[i] : 0.0f;
  }
  for (std::int64_t left = steps; left > 0; --left) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = fmaf(a, x[c], b);
  }
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * kTeam;
    if (i < n) out[i] = x[c];
  }
}

constexpr int kReaders = 256;

__global__ void add_chunk(const float* in, float* sums, std::int64_t n) {
  __shared__ float of_warps[kReaders / 32];
  const std::int64_t begin = blockIdx.x * kChunk;
  const std::int64_t end = begin + kChunk < n ? begin + kChunk : n;
  float mine = 0.0f;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kReaders) mine += in[i];
  for (int hop = 1; hop < 32; hop *= 2) mine += __shfl_xor_sync(0xffffffffu, mine, hop);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int w = 0; w < kReaders / 32; ++w) all += of_warps[w];
    sums[blockIdx.x] = all;
  }
}

}  // namespace

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  const std::int64_t of_block = kTeam * kChains;
  const auto blocks = static_cast<unsigned>((n + of_block - 1) / of_block);
  chains<<<blocks, kTeam>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  const auto chunks = static_cast<unsigned>((n + kChunk - 1) / kChunk);
  add_chunk<<<chunks, kReaders>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
