#include "sum.h"

#include "toolkit/check.h"

static const int BLOCK = 128;
static const int PER_THREAD = 4;

// every block reduces BLOCK * PER_THREAD numbers, then adds its share with an atomic
__global__ void reduceAndAdd(const float* data, float* answer, int len) {
  __shared__ float acc[BLOCK];
  int tid = threadIdx.x;
  int begin = blockIdx.x * BLOCK * PER_THREAD;
  float mine = 0;
  for (int j = 0; j < PER_THREAD; ++j) {
    int pos = begin + j * BLOCK + tid;
    if (pos < len) mine += data[pos];
  }
  acc[tid] = mine;
  __syncthreads();
  for (int half = BLOCK / 2; half >= 1; half /= 2) {
    if (tid < half) acc[tid] += acc[tid + half];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(answer, acc[0]);
}

void sum(const float* x, float* result, int n) {
  CUDA_CHECK(cudaMemset(result, 0, sizeof(float)));
  int chunk = BLOCK * PER_THREAD;
  int nblocks = (n + chunk - 1) / chunk;
  reduceAndAdd<<<nblocks, BLOCK>>>(x, result, n);
  CUDA_CHECK(cudaGetLastError());
}
