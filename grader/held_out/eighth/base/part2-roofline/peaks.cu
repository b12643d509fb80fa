#include "peaks.h"

#include "toolkit/check.h"

namespace {

constexpr int kChains = 2;     // of a thread
constexpr int kWorkers = 128;  // threads of a block, in both kernels

// A thread's chains are a block's width apart.
__global__ void run_chains(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                           float b) {
  const std::int64_t first = std::int64_t{blockIdx.x} * (kWorkers * kChains) + threadIdx.x;
  float x[kChains];
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * kWorkers;
    x[c] = i < n ? in[i] : 0.0f;
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int c = 0; c < kChains; ++c) x[c] = fmaf(a, x[c], b);
  }
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * kWorkers;
    if (i < n) out[i] = x[c];
  }
}

__global__ void add_chunk(const float* in, float* sums, std::int64_t n) {
  __shared__ float of_warp[kWorkers / 32];
  const std::int64_t begin = blockIdx.x * kChunk;
  const std::int64_t end = begin + kChunk < n ? begin + kChunk : n;
  float sum = 0.0f;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kWorkers) sum += in[i];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int w = 0; w < kWorkers / 32; ++w) all += of_warp[w];
    sums[blockIdx.x] = all;
  }
}

}  // namespace

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  const std::int64_t per_block = kWorkers * kChains;
  const std::int64_t blocks = (n + per_block - 1) / per_block;
  run_chains<<<static_cast<unsigned>(blocks), kWorkers>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  add_chunk<<<static_cast<unsigned>(chunks), kWorkers>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
