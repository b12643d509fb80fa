#include "toolkit/testing/vector_kernels.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace rooflab {
namespace {

constexpr int kThreads = 32;

template <typename T>
__global__ void load_kernel(const T* p, std::int64_t count, float* values) {
  const std::int64_t i =
      (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kVectorSize<T>;
  if (i >= count) return;
  float vector[kVectorSize<T>];
  load(p + i, count - i, vector);
  for (int j = 0; j < kVectorSize<T>; ++j) values[i + j] = vector[j];
}

template <typename T>
__global__ void store_kernel(T* p, std::int64_t count, const float* values) {
  const std::int64_t i =
      (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kVectorSize<T>;
  if (i >= count) return;
  float vector[kVectorSize<T>];
  for (int j = 0; j < kVectorSize<T>; ++j) vector[j] = values[i + j];
  store(p + i, count - i, vector);
}

template <typename T>
unsigned blocks(std::int64_t count) {
  constexpr int kPerBlock = kThreads * kVectorSize<T>;
  return static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
}

}  // namespace

template <typename T>
void load_all(const T* p, std::int64_t count, float* values) {
  load_kernel<<<blocks<T>(count), kThreads>>>(p, count, values);
  CUDA_CHECK(cudaGetLastError());
}

template <typename T>
void store_all(T* p, std::int64_t count, const float* values) {
  store_kernel<<<blocks<T>(count), kThreads>>>(p, count, values);
  CUDA_CHECK(cudaGetLastError());
}

template void load_all(const float*, std::int64_t, float*);
template void load_all(const __half*, std::int64_t, float*);
template void load_all(const __nv_bfloat16*, std::int64_t, float*);
template void store_all(float*, std::int64_t, const float*);
template void store_all(__half*, std::int64_t, const float*);
template void store_all(__nv_bfloat16*, std::int64_t, const float*);

}  // namespace rooflab
