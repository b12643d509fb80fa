#include "rmsnorm.h"

#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kWarps = 4;

// A warp for each row, which it passes over twice.
template <typename T>
__global__ void warp_norms(const T* x, const T* weight, T* y, int rows, int width, float epsilon) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= rows) return;
  const std::int64_t begin = std::int64_t{row} * width;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += 32) {
    const float value = rooflab::to_float(x[begin + i]);
    squares += value * value;
  }
  for (int mask = 16; mask > 0; mask /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, mask);
  const float factor = rsqrtf(squares / width + epsilon);
  for (int i = threadIdx.x; i < width; i += 32) {
    const float scaled = rooflab::to_float(x[begin + i]) * factor;
    y[begin + i] = rooflab::from_float<T>(scaled * (1.0f + rooflab::to_float(weight[i])));
  }
}

}  // namespace

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  const dim3 block(32, kWarps);
  warp_norms<<<(rows - 1) / kWarps + 1, block, 0, stream>>>(x, weight, y, rows, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
