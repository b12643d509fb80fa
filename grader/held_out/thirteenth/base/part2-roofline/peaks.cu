#include "peaks.h"

#include "toolkit/check.h"

namespace {

constexpr int kThreads = 192;
constexpr int kChains = 4;  // of a thread, kThreads apart

__global__ void run_chains(const float* in, float* out, std::int64_t n, std::int64_t steps,
                           float a, float b) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreads * kChains + threadIdx.x;
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * kThreads;
    x[c] = i < n ? in[i] : 0.0f;
  }

  const int batches = static_cast<int>(steps / 16);
  for (int batch = 0; batch < batches; ++batch) {
#pragma unroll
    for (int s = 0; s < 16; ++s) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = fmaf(a, x[c], b);
    }
  }
  for (std::int64_t s = std::int64_t{batches} * 16; s < steps; ++s) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = fmaf(a, x[c], b);
  }

#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * kThreads;
    if (i < n) out[i] = x[c];
  }
}

constexpr int kReaders = 256;  // threads that share a chunk

__global__ void add_chunk(const float* in, float* sums, std::int64_t n) {
  __shared__ float tree[kReaders];
  const std::int64_t begin = std::int64_t{blockIdx.x} * kChunk;
  const int length = static_cast<int>(n - begin < kChunk ? n - begin : kChunk);
  const float4* quads = reinterpret_cast<const float4*>(in + begin);

  float sum = 0.0f;
#pragma unroll 4
  for (int q = threadIdx.x; q < length / 4; q += kReaders) {
    const float4 v = quads[q];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  const int left = length / 4 * 4 + threadIdx.x;
  if (left < length) sum += in[begin + left];

  tree[threadIdx.x] = sum;
  __syncthreads();
  for (int apart = 1; apart < kReaders; apart *= 2) {
    const int at = threadIdx.x * 2 * apart;
    if (at < kReaders) tree[at] += tree[at + apart];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = tree[0];
}

}  // namespace

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  const std::int64_t each = kThreads * kChains;
  run_chains<<<static_cast<unsigned>((n + each - 1) / each), kThreads>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  const std::int64_t chunks = (n - 1) / kChunk + 1;
  add_chunk<<<static_cast<unsigned>(chunks), kReaders>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
