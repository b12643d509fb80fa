#include "peaks.h"
#include "toolkit/check.h"

__global__ void one_chain(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                          float b) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
#pragma unroll 1
  for (std::int64_t step = 0; step < steps; ++step) x = a * x + b;
  out[i] = x;
}

__global__ void one_chunk(const float* in, float* sums, std::int64_t n) {
  const std::int64_t chunk = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (chunk * kChunk >= n) return;
  float sum = 0;
  for (std::int64_t i = chunk * kChunk; i < (chunk + 1) * kChunk && i < n; ++i) sum += in[i];
  sums[chunk] = sum;
}

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  one_chain<<<static_cast<unsigned>((n + 31) / 32), 32>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  one_chunk<<<static_cast<unsigned>((chunks + 31) / 32), 32>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
