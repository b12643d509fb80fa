#include "peaks.h"

#include "toolkit/check.h"

#define CHAIN_THREADS 128
#define CHUNK_THREADS 256

struct line {
  float a;
  float b;
};

__global__ void chains(const float* in, float* out, std::int64_t n, std::int64_t steps,
                       struct line f) {
  std::int64_t i = (std::int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  std::int64_t step;
  for (step = 0; step < steps; step++) {
    x = fmaf(f.a, x, f.b);
  }
  out[i] = x;
}

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  struct line f = {a, b};
  std::int64_t blocks = (n + CHAIN_THREADS - 1) / CHAIN_THREADS;
  chains<<<(unsigned)blocks, CHAIN_THREADS>>>(in, out, n, steps, f);
  CUDA_CHECK(cudaGetLastError());
}

/* Adds up what the threads of a block hold. Thread 0 has the sum. */
__device__ static float add_over_block(float mine) {
  __shared__ float held[CHUNK_THREADS];
  int me = threadIdx.x;
  int half;
  held[me] = mine;
  __syncthreads();
  for (half = CHUNK_THREADS / 2; half > 0; half /= 2) {
    if (me < half) held[me] += held[me + half];
    __syncthreads();
  }
  return held[0];
}

__global__ void chunk_kernel(const float* in, float* sums, std::int64_t n) {
  std::int64_t begin = (std::int64_t)blockIdx.x * kChunk;
  std::int64_t end = begin + kChunk;
  if (end > n) end = n;

  float mine = 0.0f;
  std::int64_t i;
  for (i = begin + threadIdx.x; i < end; i += CHUNK_THREADS) {
    mine += in[i];
  }
  float whole = add_over_block(mine);
  if (threadIdx.x == 0) sums[blockIdx.x] = whole;
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  std::int64_t chunks = (n + kChunk - 1) / kChunk;
  chunk_kernel<<<(unsigned)chunks, CHUNK_THREADS>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
