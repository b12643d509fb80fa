#include "rmsnorm.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

constexpr int NT = 128;
constexpr int NW = NT / 32;

template <typename T>
__global__ void norm_rows(const T* x, const T* weight, T* y, int width, float eps) {
  __shared__ float partial[NW];
  const long long offset = static_cast<long long>(blockIdx.x) * width;
  float sq = 0.f;
  for (int i = threadIdx.x; i < width; i += NT) {
    const float v = to_float(x[offset + i]);
    sq += v * v;
  }
  sq = warp_sum(sq);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sq;
  __syncthreads();
  float total = 0.f;
  for (int w = 0; w < NW; ++w) total += partial[w];
  const float inv = rsqrtf(total / width + eps);
  for (int i = threadIdx.x; i < width; i += NT) {
    const float v = to_float(x[offset + i]);
    y[offset + i] = from_float<T>(v * inv * (1.f + to_float(weight[i])));
  }
}

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  norm_rows<T><<<rows, NT, 0, stream>>>(x, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
