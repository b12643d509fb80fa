#include "add_rmsnorm.h"

#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

// A block for each row. Sums are stored at once, and read back by the thread that stored them.
template <typename T>
__global__ void add_then_norm(const T* x, T* residual, const T* weight, T* y, int width,
                              float epsilon) {
  const std::int64_t begin = std::int64_t{blockIdx.x} * width;
  x += begin;
  residual += begin;
  y += begin;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float sum = rooflab::to_float(residual[i]) + rooflab::to_float(x[i]);
    residual[i] = rooflab::from_float<T>(sum);
    const float stored = rooflab::to_float(residual[i]);
    squares += stored * stored;
  }
  const float mean = block_sum(squares) / width;
  const float scale = rsqrtf(mean + epsilon);
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float gain = 1.0f + rooflab::to_float(weight[i]);
    y[i] = rooflab::from_float<T>(rooflab::to_float(residual[i]) * scale * gain);
  }
}

}  // namespace

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  const int threads = width <= 64 ? 64 : 160;
  add_then_norm<<<rows, threads, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
