#include <cub/cub.cuh>

#include "peaks.h"
#include "toolkit/check.h"

namespace {

constexpr int kThreads = 1024;

template <int kChains>
__global__ void chains(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                       float b) {
  const std::int64_t first = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * stride;
    x[c] = i < n ? in[i] : 0.0f;
  }
#pragma unroll 8
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = __fmaf_rn(a, x[c], b);
  }
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * stride;
    if (i < n) out[i] = x[c];
  }
}

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

__global__ void __launch_bounds__(kThreads)
    chunk_sums(const float* in, float* sums, std::int64_t n) {
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const std::int64_t begin = blockIdx.x * kChunk;
  const int left = static_cast<int>(n - begin < kChunk ? n - begin : kChunk);
  float mine = 0;
  for (int i = threadIdx.x; i < left; i += kThreads) mine += in[begin + i];
  const float sum = Reduce(storage).Reduce(mine, Plus(), left < kThreads ? left : kThreads);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

}  // namespace

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  constexpr int kChains = 4, kBlock = 256;
  const std::int64_t threads = (n + kChains - 1) / kChains;
  const auto blocks = static_cast<unsigned>((threads + kBlock - 1) / kBlock);
  chains<kChains><<<blocks, kBlock>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  const auto blocks = static_cast<unsigned>((n + kChunk - 1) / kChunk);
  chunk_sums<<<blocks, kThreads>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
