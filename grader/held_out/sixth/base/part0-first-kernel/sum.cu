#include "sum.h"

#include "toolkit/check.h"

#define THREADS 256
#define MOST_BLOCKS 512

/* Adds up the block's values by halving; the result is in buffer[0]. */
__device__ static void halve_until_one(float* buffer) {
  int me = threadIdx.x;
  int half;
  for (half = THREADS / 2; half >= 1; half /= 2) {
    __syncthreads();
    if (me < half) buffer[me] += buffer[me + half];
  }
}

/* Block b leaves its share of the sum in out[b]. */
__global__ void sum_shares(const float* in, float* out, int count) {
  __shared__ float buffer[THREADS];
  long long step = (long long)gridDim.x * THREADS;
  long long i;

  float mine = 0.0f;
  for (i = (long long)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
    mine += in[i];
  }
  buffer[threadIdx.x] = mine;
  halve_until_one(buffer);
  if (threadIdx.x == 0) out[blockIdx.x] = buffer[0];
}

void sum(const float* x, float* result, int n) {
  float* shares = NULL;
  int blocks = n / THREADS;
  if (n % THREADS > 0) blocks++;
  if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;

  CUDA_CHECK(cudaMalloc(&shares, blocks * sizeof(float)));
  sum_shares<<<blocks, THREADS>>>(x, shares, n);
  CUDA_CHECK(cudaGetLastError());
  sum_shares<<<1, THREADS>>>(shares, result, blocks);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFree(shares));
}
