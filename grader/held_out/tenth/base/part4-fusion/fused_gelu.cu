#include "fused_gelu.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

template <typename T>
__global__ void gelu_vectors(const T* x, T* y, std::int64_t count) {
  constexpr int V = rooflab::kVectorSize<T>;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t at = thread * V;
  if (at >= count) return;
  float v[V];
  rooflab::load(x + at, count - at, v);
  for (float& number : v) number = gelu(number);
  rooflab::store(y + at, count - at, v);
}

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  const std::int64_t per_block = 128 * rooflab::kVectorSize<T>;
  const auto blocks = static_cast<unsigned>((count + per_block - 1) / per_block);
  gelu_vectors<T><<<blocks, 128, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
