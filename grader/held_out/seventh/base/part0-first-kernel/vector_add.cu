#include "vector_add.h"

#include "toolkit/check.h"

#define TPB 256
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__global__ void vadd(const float* a, const float* b, float* c, int n) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n) {
    c[tid] = a[tid] + b[tid];
  }
}

void vector_add(const float* h_a, const float* h_b, float* h_c, int n) {
  const size_t bytes = n * sizeof(float);
  float* d_a;
  float* d_b;
  float* d_c;

  // allocate + upload
  auto upload = [bytes](float** d, const float* h) {
    CUDA_CHECK(cudaMalloc((void**)d, bytes));
    CUDA_CHECK(cudaMemcpy(*d, h, bytes, cudaMemcpyHostToDevice));
  };
  upload(&d_a, h_a);
  upload(&d_b, h_b);
  CUDA_CHECK(cudaMalloc((void**)&d_c, bytes));

  vadd<<<CEIL_DIV(n, TPB), TPB>>>(d_a, d_b, d_c, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());

  // download + clean up
  CUDA_CHECK(cudaMemcpy(h_c, d_c, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(d_a));
  CUDA_CHECK(cudaFree(d_b));
  CUDA_CHECK(cudaFree(d_c));
}
