#include "rmsnorm.h"

#include "toolkit/vectors.h"

namespace {

template <typename T>
__global__ void rmsnorm_kernel(const T* x, const T* weight, T* y, int rows, int width,
                               float epsilon) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * width;
  y += static_cast<size_t>(row) * width;
  float squares = 0.0f;
  for (int i = 0; i < width; ++i) squares += rooflab::to_float(x[i]) * rooflab::to_float(x[i]);
  const float scale = rsqrtf(squares / width + epsilon);
  for (int i = 0; i < width; ++i) {
    y[i] = rooflab::from_float<T>(rooflab::to_float(x[i]) * scale *
                                  (1.0f + rooflab::to_float(weight[i])));
  }
}

}  // namespace

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  rmsnorm_kernel<<<(rows + 127) / 128, 128, 0, stream>>>(x, weight, y, rows, width, epsilon);
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
