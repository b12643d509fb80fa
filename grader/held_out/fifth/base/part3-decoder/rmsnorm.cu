#include "rmsnorm.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

namespace {

constexpr int kRowsOfBlock = 4;

// A warp for each row; a lane takes every 32nd element of it, twice.
template <typename T>
__global__ void norm_rows(const T* x, const T* weight, T* y, int rows, int width, float epsilon) {
  const long long r = 1LL * blockIdx.x * kRowsOfBlock + threadIdx.y;
  if (r >= rows) return;
  const T* from = x + r * width;
  T* to = y + r * width;

  float squares = 0;
  for (int i = threadIdx.x; i < width; i += kWarpSize) {
    const float v = to_float(from[i]);
    squares += v * v;
  }
  const float mean = warp_sum(squares) / width;
  const float shrink = rsqrtf(mean + epsilon);
  for (int i = threadIdx.x; i < width; i += kWarpSize) {
    const float gain = 1.0f + to_float(weight[i]);
    to[i] = from_float<T>(to_float(from[i]) * shrink * gain);
  }
}

}  // namespace

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  const dim3 block(kWarpSize, kRowsOfBlock);
  norm_rows<<<(rows - 1) / kRowsOfBlock + 1, block, 0, stream>>>(x, weight, y, rows, width,
                                                                 epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
