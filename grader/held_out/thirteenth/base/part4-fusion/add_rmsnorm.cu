#include "add_rmsnorm.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

using rooflab::from_float;
using rooflab::to_float;

constexpr int kRows = 8;  // of a block, a warp for each

template <typename T>
__global__ void add_then_norm(const T* x, T* residual, const T* weight, T* y, int rows, int width,
                              float epsilon) {
  const int lane = threadIdx.x;
  const int row = blockIdx.x * kRows + threadIdx.y;
  if (row >= rows) return;
  const std::int64_t begin = std::int64_t{row} * width;

  float squares = 0.0f;
  for (int i = lane; i < width; i += kWarpSize) {
    const T stored = from_float<T>(to_float(residual[begin + i]) + to_float(x[begin + i]));
    residual[begin + i] = stored;
    squares += to_float(stored) * to_float(stored);
  }
  const float mean = warp_sum(squares) / width;
  const float factor = 1.0f / sqrtf(mean + epsilon);
  for (int i = lane; i < width; i += kWarpSize) {
    const float normed = to_float(residual[begin + i]) * factor;
    y[begin + i] = from_float<T>(normed * (1.0f + to_float(weight[i])));
  }
}

}  // namespace

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  const dim3 block(kWarpSize, kRows);
  add_then_norm<<<divide_up(rows, kRows), block, 0, stream>>>(x, residual, weight, y, rows, width,
                                                              epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
