#include "add_rmsnorm.h"

#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kTeam = 192;

template <typename T>
__global__ void add_and_norm(const T* x, T* residual, const T* weight, T* y, int width,
                             float epsilon) {
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * width;
  const T* more = x + begin;
  T* kept = residual + begin;
  T* normed = y + begin;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += kTeam) {
    const T rounded = rooflab::from_float<T>(rooflab::to_float(kept[i]) + rooflab::to_float(more[i]));
    kept[i] = rounded;
    const float value = rooflab::to_float(rounded);
    squares = fmaf(value, value, squares);
  }
  const float factor = rsqrtf(block_sum(squares) / width + epsilon);
  // Each thread reads again what it has stored itself.
  for (int i = threadIdx.x; i < width; i += kTeam) {
    const float gain = 1.0f + rooflab::to_float(weight[i]);
    normed[i] = rooflab::from_float<T>(gain * factor * rooflab::to_float(kept[i]));
  }
}

}  // namespace

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  add_and_norm<<<rows, kTeam, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
