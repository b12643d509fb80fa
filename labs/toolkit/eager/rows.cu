#include "toolkit/eager/rows.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace rooflab::eager {
namespace {

constexpr int kThreads = 256;
constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;

// --- One thread for each element -----------------------------------------------------------------

struct MultiplyRows {
  template <typename T>
  __device__ float operator()(const T* x, const T* factor, std::int64_t row, std::int64_t column,
                              std::int64_t width) const {
    return to_float(x[row * width + column]) * to_float(factor[row]);
  }
};
struct MultiplyColumns {
  template <typename T>
  __device__ float operator()(const T* x, const T* factor, std::int64_t row, std::int64_t column,
                              std::int64_t width) const {
    return to_float(x[row * width + column]) * to_float(factor[column]);
  }
};
struct RotateHalf {
  template <typename T>
  __device__ float operator()(const T* x, const T*, std::int64_t row, std::int64_t column,
                              std::int64_t width) const {
    const std::int64_t half = width / 2;
    const T* in_row = x + row * width;
    return column < half ? -to_float(in_row[column + half]) : to_float(in_row[column - half]);
  }
};
struct SelectRows {
  template <typename T>
  __device__ float operator()(const T* table, const int* index, std::int64_t row,
                              std::int64_t column, std::int64_t width) const {
    return to_float(table[index[row] * width + column]);
  }
};
struct HideBehind {
  template <typename T>
  __device__ float operator()(const T* x, const int* last, std::int64_t row, std::int64_t column,
                              std::int64_t width) const {
    return column <= *last ? to_float(x[row * width + column]) : -INFINITY;
  }
};

template <typename Operation, typename T, typename Second>
__global__ void elementwise_kernel(Operation operation, const T* x, const Second* second, T* y,
                                   std::int64_t rows, std::int64_t width) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < rows * width) y[i] = from_float<T>(operation(x, second, i / width, i % width, width));
}

template <typename Operation, typename T, typename Second>
void launch(Operation operation, const T* x, const Second* second, T* y, std::int64_t rows,
            std::int64_t width, cudaStream_t stream) {
  const std::int64_t count = rows * width;
  if (count == 0) return;  // no grid is that small
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  elementwise_kernel<<<blocks, kThreads, 0, stream>>>(operation, x, second, y, rows, width);
  CUDA_CHECK(cudaGetLastError());
}

// --- One warp for each row -----------------------------------------------------------------------

__device__ float warp_sum(float value) {
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

__device__ float warp_maximum(float value) {
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  return value;
}

template <typename T>
__global__ void mean_kernel(const T* x, T* mean, std::int64_t width) {
  const T* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (std::int64_t i = threadIdx.x; i < width; i += kWarpSize) sum += to_float(row[i]);
  sum = warp_sum(sum);
  if (threadIdx.x == 0) mean[blockIdx.x] = from_float<T>(sum / static_cast<float>(width));
}

template <typename T>
__global__ void softmax_kernel(const T* x, T* y, std::int64_t width) {
  x += blockIdx.x * width;
  y += blockIdx.x * width;
  float maximum = -INFINITY;
  for (std::int64_t i = threadIdx.x; i < width; i += kWarpSize) {
    maximum = fmaxf(maximum, to_float(x[i]));
  }
  maximum = warp_maximum(maximum);
  float sum = 0.0f;
  for (std::int64_t i = threadIdx.x; i < width; i += kWarpSize) {
    sum += expf(to_float(x[i]) - maximum);
  }
  sum = warp_sum(sum);
  for (std::int64_t i = threadIdx.x; i < width; i += kWarpSize) {
    y[i] = from_float<T>(expf(to_float(x[i]) - maximum) / sum);
  }
}

}  // namespace

template <typename T>
void mean_of_rows(const T* x, T* mean, std::int64_t rows, std::int64_t width, cudaStream_t stream) {
  if (rows * width == 0) return;
  mean_kernel<<<static_cast<unsigned>(rows), kWarpSize, 0, stream>>>(x, mean, width);
  CUDA_CHECK(cudaGetLastError());
}

template <typename T>
void softmax_of_rows(const T* x, T* y, std::int64_t rows, std::int64_t width, cudaStream_t stream) {
  if (rows * width == 0) return;
  softmax_kernel<<<static_cast<unsigned>(rows), kWarpSize, 0, stream>>>(x, y, width);
  CUDA_CHECK(cudaGetLastError());
}

template <typename T>
void multiply_rows(const T* x, const T* factor, T* y, std::int64_t rows, std::int64_t width,
                   cudaStream_t stream) {
  launch(MultiplyRows(), x, factor, y, rows, width, stream);
}

template <typename T>
void multiply_columns(const T* x, const T* factor, T* y, std::int64_t rows, std::int64_t width,
                      cudaStream_t stream) {
  launch(MultiplyColumns(), x, factor, y, rows, width, stream);
}

template <typename T>
void rotate_half(const T* x, T* y, std::int64_t rows, std::int64_t width, cudaStream_t stream) {
  launch(RotateHalf(), x, x, y, rows, width, stream);
}

template <typename T>
void select_rows(const T* table, const int* index, T* y, std::int64_t rows, std::int64_t width,
                 cudaStream_t stream) {
  launch(SelectRows(), table, index, y, rows, width, stream);
}

template <typename T>
void hide_behind(const T* x, const int* last, T* y, std::int64_t rows, std::int64_t width,
                 cudaStream_t stream) {
  launch(HideBehind(), x, last, y, rows, width, stream);
}

// The types that they are for.
#define ROOFLAB_INSTANTIATE(T)                                                                   \
  template void mean_of_rows(const T*, T*, std::int64_t, std::int64_t, cudaStream_t);            \
  template void softmax_of_rows(const T*, T*, std::int64_t, std::int64_t, cudaStream_t);         \
  template void multiply_rows(const T*, const T*, T*, std::int64_t, std::int64_t, cudaStream_t); \
  template void multiply_columns(const T*, const T*, T*, std::int64_t, std::int64_t,             \
                                 cudaStream_t);                                                  \
  template void rotate_half(const T*, T*, std::int64_t, std::int64_t, cudaStream_t);             \
  template void select_rows(const T*, const int*, T*, std::int64_t, std::int64_t, cudaStream_t); \
  template void hide_behind(const T*, const int*, T*, std::int64_t, std::int64_t, cudaStream_t);
ROOFLAB_INSTANTIATE(float)
ROOFLAB_INSTANTIATE(__half)
ROOFLAB_INSTANTIATE(__nv_bfloat16)
#undef ROOFLAB_INSTANTIATE

}  // namespace rooflab::eager
