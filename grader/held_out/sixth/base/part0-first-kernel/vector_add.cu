#include "vector_add.h"

#include <stddef.h>

#include "toolkit/check.h"

/* The three arrays on the device. */
struct device_arrays {
  float* a;
  float* b;
  float* c;
};

static void allocate_arrays(struct device_arrays* d, size_t bytes) {
  CUDA_CHECK(cudaMalloc(&d->a, bytes));
  CUDA_CHECK(cudaMalloc(&d->b, bytes));
  CUDA_CHECK(cudaMalloc(&d->c, bytes));
}

static void release_arrays(struct device_arrays* d) {
  CUDA_CHECK(cudaFree(d->a));
  CUDA_CHECK(cudaFree(d->b));
  CUDA_CHECK(cudaFree(d->c));
}

__global__ void add_elements(struct device_arrays d, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= n) return;
  d.c[idx] = d.a[idx] + d.b[idx];
}

void vector_add(const float* a, const float* b, float* c, int n) {
  const int block_size = 192;
  size_t bytes = (size_t)n * sizeof(float);
  struct device_arrays d;

  allocate_arrays(&d, bytes);
  CUDA_CHECK(cudaMemcpy(d.a, a, bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(d.b, b, bytes, cudaMemcpyHostToDevice));

  int grid_size = n / block_size;
  if (n % block_size != 0) grid_size += 1;
  add_elements<<<grid_size, block_size>>>(d, n);
  CUDA_CHECK(cudaGetLastError());

  CUDA_CHECK(cudaMemcpy(c, d.c, bytes, cudaMemcpyDeviceToHost));
  release_arrays(&d);
}
