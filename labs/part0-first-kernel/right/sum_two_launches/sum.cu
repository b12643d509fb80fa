#include "sum.h"

#include "toolkit/check.h"

__global__ void partial_sums(const float* x, float* sums, int n) {
  __shared__ float of_warps[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = i; k < n; k += gridDim.x * blockDim.x) sum += x[k];
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  float total = 0;
  for (const float part : of_warps) total += part;
  sums[blockIdx.x] = total;
}

void sum(const float* x, float* result, int n) {
  const int blocks = 216;
  float* sums = nullptr;
  CUDA_CHECK(cudaMalloc(&sums, blocks * sizeof(float)));
  partial_sums<<<blocks, 256>>>(x, sums, n);
  CUDA_CHECK(cudaGetLastError());
  partial_sums<<<1, 256>>>(sums, result, blocks);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFree(sums));
}
