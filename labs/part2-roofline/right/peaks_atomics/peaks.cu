#include "peaks.h"
#include "toolkit/check.h"

__global__ void chain(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                      float b) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  while (steps-- > 0) x = fmaf(a, x, b);
  out[i] = x;
}

__global__ void add_each(const float* in, float* sums, std::int64_t n) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&sums[i / kChunk], in[i]);
}

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  chain<<<static_cast<unsigned>((n + 127) / 128), 128>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  CUDA_CHECK(cudaMemsetAsync(sums, 0, (n + kChunk - 1) / kChunk * sizeof(float)));
  add_each<<<static_cast<unsigned>((n + 255) / 256), 256>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
