#include "peaks.h"

#include "toolkit/check.h"

constexpr int CHAINS = 4;  // chains of one thread, a block apart

__global__ void chains(const float* in, float* out, long long n, long long steps, float a, float b) {
  long long base = (long long)blockIdx.x * blockDim.x * CHAINS + threadIdx.x;
  float x[CHAINS];
#pragma unroll
  for (int c = 0; c < CHAINS; c++) {
    long long at = base + c * blockDim.x;
    x[c] = at < n ? in[at] : 0.0f;
  }
  for (long long s = 0; s < steps; s++) {
#pragma unroll
    for (int c = 0; c < CHAINS; c++) x[c] = fmaf(a, x[c], b);
  }
#pragma unroll
  for (int c = 0; c < CHAINS; c++) {
    long long at = base + c * blockDim.x;
    if (at < n) out[at] = x[c];
  }
}

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  const std::int64_t per_block = 128 * CHAINS;
  chains<<<(unsigned)((n + per_block - 1) / per_block), 128>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

// 256 threads a chunk, 16 elements a thread
__global__ void chunk_sums(const float* in, float* sums, long long n) {
  __shared__ float warps[8];
  const long long from = blockIdx.x * (long long)kChunk;
  long long to = from + kChunk;
  if (to > n) to = n;
  float s = 0;
  for (long long i = from + threadIdx.x; i < to; i += 256) s += in[i];
  for (int d = 1; d < 32; d <<= 1) s += __shfl_xor_sync(~0u, s, d);
  if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = warps[0];
    for (int w = 1; w < 8; w++) all += warps[w];
    sums[blockIdx.x] = all;
  }
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  chunk_sums<<<(unsigned)chunks, 256>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
