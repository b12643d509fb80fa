#include "add_rmsnorm.h"

#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

constexpr int kCrew = 96;  // threads of a block, which has one row

template <typename T>
__global__ void add_then_norm(const T* x, T* residual, const T* weight, T* y, int width,
                              float epsilon) {
  __shared__ float crew[kCrew];
  __shared__ float factor;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * width;
  const T* added = x + begin;
  T* stream_row = residual + begin;
  T* normed = y + begin;

  float squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += kCrew) {
    const T stored = from_float<T>(to_float(added[i]) + to_float(stream_row[i]));
    stream_row[i] = stored;
    const float value = to_float(stored);
    squares += value * value;
  }
  crew[threadIdx.x] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int t = 0; t < kCrew; ++t) total += crew[t];
    factor = rsqrtf(total / width + epsilon);
  }
  __syncthreads();

  for (int i = threadIdx.x; i < width; i += kCrew) {
    const float scaled = to_float(stream_row[i]) * factor;
    normed[i] = from_float<T>(scaled + scaled * to_float(weight[i]));
  }
}

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  add_then_norm<<<rows, kCrew, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
