#include "rmsnorm.h"

#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kRowsOfBlock = 4;  // a warp for each

template <typename T>
__global__ void norm_rows(const T* x, const T* weight, T* y, int rows, int width, float epsilon) {
  const int lane = threadIdx.x;
  const int row = blockIdx.x * kRowsOfBlock + threadIdx.y;
  if (row >= rows) return;
  const std::int64_t begin = static_cast<std::int64_t>(row) * width;
  float squares = 0.0f;
  for (int i = lane; i < width; i += kWarpSize) {
    const float value = rooflab::to_float(x[begin + i]);
    squares += value * value;
  }
  const float mean = warp_sum(squares) / width;
  const float factor = 1.0f / sqrtf(mean + epsilon);
  for (int i = lane; i < width; i += kWarpSize) {
    const float gain = 1.0f + rooflab::to_float(weight[i]);
    y[begin + i] = rooflab::from_float<T>(rooflab::to_float(x[begin + i]) * factor * gain);
  }
}

}  // namespace

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  const int blocks = (rows - 1) / kRowsOfBlock + 1;
  const dim3 threads(kWarpSize, kRowsOfBlock);
  norm_rows<<<blocks, threads, 0, stream>>>(x, weight, y, rows, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
