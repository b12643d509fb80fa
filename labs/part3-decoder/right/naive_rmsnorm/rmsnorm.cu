#include "rmsnorm.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

__device__ float number(float x) { return x; }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

template <typename T>
__global__ void normalise(const T* x, const T* weight, T* y, int rows, int width, float epsilon) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const size_t at = static_cast<size_t>(row) * width;
  float sum = 0;
  for (int i = 0; i < width; ++i) sum += number(x[at + i]) * number(x[at + i]);
  const float factor = 1.0f / sqrtf(sum / width + epsilon);
  for (int i = 0; i < width; ++i) {
    store(&y[at + i], number(x[at + i]) * factor * (1.0f + number(weight[i])));
  }
}

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  normalise<<<(rows + 63) / 64, 64, 0, stream>>>(x, weight, y, rows, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
