#include "add_rmsnorm.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

namespace {
constexpr int kThreads = 192;

template <typename T>
__global__ void residual_then_norm(const T* x, T* residual, const T* weight, T* y, int width,
                                   float epsilon) {
  const std::int64_t start = std::int64_t{blockIdx.x} * width;
  const T* xs = x + start;
  T* rs = residual + start;
  T* ys = y + start;

  float energy = 0.0f;
  for (int c = threadIdx.x; c < width; c += kThreads) {
    const T stored = from_float<T>(to_float(xs[c]) + to_float(rs[c]));
    rs[c] = stored;
    const float v = to_float(stored);  // what was rounded, not what was added
    energy += v * v;
  }
  energy = block_sum(energy);
  const float factor = rsqrtf(energy / width + epsilon);
  // each thread comes back to its own columns alone
  for (int c = threadIdx.x; c < width; c += kThreads) {
    ys[c] = from_float<T>(to_float(rs[c]) * factor * (1.0f + to_float(weight[c])));
  }
}
}  // namespace

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  residual_then_norm<T><<<rows, kThreads, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
