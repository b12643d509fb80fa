#include "vector_add.h"

#include "toolkit/check.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Each step has a stream of its own, and nothing orders them.
void vector_add(const float* a, const float* b, float* c, int n) {
  const size_t bytes = n * sizeof(float);
  float *da, *db, *dc, *dummy;
  cudaStream_t s[4];
  for (cudaStream_t& one : s) CUDA_CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  CUDA_CHECK(cudaMalloc(&da, bytes));
  CUDA_CHECK(cudaMalloc(&db, bytes));
  CUDA_CHECK(cudaMalloc(&dc, bytes));
  CUDA_CHECK(cudaMalloc(&dummy, 4));
  const auto forget = [&] {
    for (int i = 0; i < 2000; ++i) CUDA_CHECK(cudaMemsetAsync(dummy, 0, 4, s[3]));
  };
  CUDA_CHECK(cudaMemcpyAsync(da, a, bytes, cudaMemcpyHostToDevice, s[0]));
  CUDA_CHECK(cudaMemcpyAsync(db, b, bytes, cudaMemcpyHostToDevice, s[0]));
  forget();
  add<<<(n + 255) / 256, 256, 0, s[1]>>>(da, db, dc, n);
  CUDA_CHECK(cudaGetLastError());
  forget();
  CUDA_CHECK(cudaMemcpyAsync(c, dc, bytes, cudaMemcpyDeviceToHost, s[2]));
  CUDA_CHECK(cudaDeviceSynchronize());
  for (cudaStream_t one : s) cudaStreamDestroy(one);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  cudaFree(dummy);
}
