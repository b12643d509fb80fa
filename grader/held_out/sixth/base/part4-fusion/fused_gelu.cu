#include "fused_gelu.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define THREADS 256
#define PER_THREAD 4 /* elements of a thread, a block apart */

template <typename T>
__global__ void gelu_kernel(const T* x, T* y, std::int64_t count) {
  std::int64_t base = (std::int64_t)blockIdx.x * THREADS * PER_THREAD + threadIdx.x;
  int e;
  for (e = 0; e < PER_THREAD; e++) {
    std::int64_t i = base + (std::int64_t)e * THREADS;
    if (i >= count) return;
    y[i] = rooflab::from_float<T>(gelu(rooflab::to_float(x[i])));
  }
}

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  std::int64_t of_block = (std::int64_t)THREADS * PER_THREAD;
  std::int64_t blocks = (count + of_block - 1) / of_block;
  gelu_kernel<T><<<(unsigned)blocks, THREADS, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
