#include "peaks.h"

#include <algorithm>

#include "toolkit/check.h"

namespace {

constexpr int kChains = 4;  // of one thread
constexpr int kBlock = 128;

__global__ void chains(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                       float b) {
  // A block has kChains * kBlock neighbouring chains; those of a thread lie kBlock apart.
  const std::int64_t first = std::int64_t{blockIdx.x} * (kChains * kBlock) + threadIdx.x;
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * kBlock;
    x[c] = i < n ? in[i] : 0.0f;
  }
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = fmaf(a, x[c], b);
  }
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * kBlock;
    if (i < n) out[i] = x[c];
  }
}

// A warp for each chunk, four chunks for a block.
__global__ void add_chunks(const float* in, float* sums, std::int64_t n, std::int64_t chunks) {
  const int lane = threadIdx.x & 31;
  const std::int64_t chunk = std::int64_t{blockIdx.x} * (kBlock / 32) + (threadIdx.x >> 5);
  if (chunk >= chunks) return;
  const float* from = in + chunk * kChunk;
  const std::int64_t there = min(kChunk, n - chunk * kChunk);

  float total = 0.0f;
  const float4* fours = reinterpret_cast<const float4*>(from);
  for (std::int64_t i = lane; i < there / 4; i += 32) {
    const float4 four = fours[i];
    total += (four.x + four.y) + (four.z + four.w);
  }
  for (std::int64_t i = there / 4 * 4 + lane; i < there; i += 32) total += from[i];

  for (int far = 16; far > 0; far >>= 1) total += __shfl_down_sync(0xffffffffu, total, far);
  if (lane == 0) sums[chunk] = total;
}

}  // namespace

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  const std::int64_t of_block = kChains * kBlock;
  const auto blocks = static_cast<unsigned>((n + of_block - 1) / of_block);
  chains<<<blocks, kBlock>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  const std::int64_t warps = kBlock / 32;
  add_chunks<<<static_cast<unsigned>((chunks + warps - 1) / warps), kBlock>>>(in, sums, n, chunks);
  CUDA_CHECK(cudaGetLastError());
}
