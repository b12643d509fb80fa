#include "add_rmsnorm.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

template <typename T>
__global__ void rows_by_warps(const T* x, T* residual, const T* weight, T* y, int rows, int width,
                              float epsilon) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const int lane = threadIdx.x % 32;
  const unsigned here = __ballot_sync(0xffffffffu, lane < width);
  if (lane >= width) return;
  const size_t begin = static_cast<size_t>(row) * width;

  float squares = 0.0f, lost = 0.0f;
  for (int i = lane; i < width; i += 32) {
    const T sum = rooflab::from_float<T>(rooflab::to_float(residual[begin + i]) +
                                         rooflab::to_float(x[begin + i]));
    residual[begin + i] = sum;
    const float value = rooflab::to_float(sum);
    const float term = value * value - lost;
    const float next = squares + term;
    lost = (next - squares) - term;
    squares = next;
  }
  // Every lane that is here reads every other one.
  float total = 0.0f;
  for (unsigned others = here; others != 0; others &= others - 1) {
    total += __shfl_sync(here, squares, __ffs(others) - 1);
  }
  const float scale = rsqrtf(total / width + epsilon);
  for (int i = lane; i < width; i += 32) {
    const float value = rooflab::to_float(residual[begin + i]);  // this lane stored it
    y[begin + i] = rooflab::from_float<T>(value * scale * (1.0f + rooflab::to_float(weight[i])));
  }
}

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  constexpr int kRows = 3;
  rows_by_warps<<<(rows + kRows - 1) / kRows, 32 * kRows, 0, stream>>>(x, residual, weight, y, rows,
                                                                       width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
