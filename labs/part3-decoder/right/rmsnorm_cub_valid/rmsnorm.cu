#include <cub/cub.cuh>

#include "rmsnorm.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

namespace {

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

__device__ float widen(float x) { return x; }
__device__ float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void narrow(float& to, float x) { to = x; }
__device__ void narrow(__nv_bfloat16& to, float x) { to = __float2bfloat16_rn(x); }

template <int kThreads, typename T>
__global__ void __launch_bounds__(kThreads)
    normalise(const T* x, const T* weight, T* y, int width, float epsilon) {
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ float inverse;
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * width;
  float squares = 0;
  for (int i = threadIdx.x; i < width; i += kThreads) {
    const float value = widen(x[row + i]);
    squares = fmaf(value, value, squares);
  }
  const float total = Reduce(storage).Reduce(squares, Sum{}, min(width, kThreads));
  if (threadIdx.x == 0) inverse = 1.0f / sqrtf(total / width + epsilon);
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += kThreads) {
    narrow(y[row + i], widen(x[row + i]) * inverse * (1.0f + widen(weight[i])));
  }
}

}  // namespace

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  if (width <= 300) {
    normalise<128><<<rows, 128, 0, stream>>>(x, weight, y, width, epsilon);
  } else {
    normalise<1024><<<rows, 1024, 0, stream>>>(x, weight, y, width, epsilon);
  }
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
