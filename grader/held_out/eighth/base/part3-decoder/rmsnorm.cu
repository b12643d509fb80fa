#include "rmsnorm.h"

#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

// A row belongs to a warp, and a block has three of them.
constexpr int kWarpsOfBlock = 3;

template <typename T>
__global__ void norm_rows(const T* x, const T* weight, T* y, int rows, int width, float epsilon) {
  const int row = blockIdx.x * kWarpsOfBlock + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const T* in = x + static_cast<std::int64_t>(row) * width;
  T* out = y + static_cast<std::int64_t>(row) * width;

  float squares = 0.0f;
  for (int i = lane; i < width; i += 32) {
    const float value = to_float(in[i]);
    squares += value * value;
  }
  squares = warp_sum(squares);
  const float factor = 1.0f / sqrtf(squares / width + epsilon);

  for (int i = lane; i < width; i += 32) {
    const float gain = 1.0f + to_float(weight[i]);
    out[i] = from_float<T>(to_float(in[i]) * factor * gain);
  }
}

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  const int blocks = (rows + kWarpsOfBlock - 1) / kWarpsOfBlock;
  norm_rows<<<blocks, 32 * kWarpsOfBlock, 0, stream>>>(x, weight, y, rows, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
