#include "fused_gelu.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

// A thread takes one vector at a time, and the grid walks over the array.
template <typename T>
__global__ void gelu_vectors(const T* x, T* y, std::int64_t count) {
  constexpr int kLane = rooflab::kVectorSize<T>;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x * kLane;
  std::int64_t at = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kLane;
  for (; at < count; at += stride) {
    float values[kLane];
    rooflab::load(x + at, count - at, values);
    for (float& value : values) value = gelu(value);
    rooflab::store(y + at, count - at, values);
  }
}

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  constexpr std::int64_t kOfBlock = 128 * rooflab::kVectorSize<T>;
  std::int64_t blocks = (count + kOfBlock - 1) / kOfBlock;
  if (blocks > 4096) blocks = 4096;
  gelu_vectors<<<static_cast<int>(blocks), 128, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
