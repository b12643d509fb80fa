#include "fused_gelu.h"

#include <algorithm>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

template <typename T>
struct GeluOf {
  const T* x;
  T* y;
  __device__ void operator()(std::int64_t i) const {
    const float v = rooflab::to_float(x[i]);
    y[i] = rooflab::from_float<T>(gelu(v));
  }
};

// Each block takes a run of neighbouring elements, each thread four of them.
template <class F>
__global__ void for_each(std::int64_t count, F f) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x * 4 + threadIdx.x;
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const std::int64_t i = first + step * blockDim.x;
    if (i < count) f(i);
  }
}

}  // namespace

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  constexpr int threads = 256;
  const std::int64_t blocks = (count + 4 * threads - 1) / (4 * threads);
  for_each<<<unsigned(blocks), threads, 0, stream>>>(count, GeluOf<T>{x, y});
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
