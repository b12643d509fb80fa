#include "fused_gelu.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

namespace {

__device__ __forceinline__ float gelu(float x) {
  const float cube = x * x * x;
  return 0.5f * x * (1.f + tanhf(fmaf(0.044715f, cube, x) * 0.7978845608028654f));
}
__device__ float2 gelu(float2 x) { return make_float2(gelu(x.x), gelu(x.y)); }
__device__ __nv_bfloat16 gelu(__nv_bfloat16 x) {
  return __float2bfloat16(gelu(__bfloat162float(x)));
}
__device__ __nv_bfloat162 gelu(__nv_bfloat162 x) {
  return __float22bfloat162_rn(gelu(__bfloat1622float2(x)));
}

template <typename T>
struct Pair;
template <>
struct Pair<float> {
  using type = float2;
};
template <>
struct Pair<__nv_bfloat16> {
  using type = __nv_bfloat162;
};

template <typename T>
__global__ void by_pairs(const T* __restrict__ x, T* __restrict__ y, std::int64_t count) {
  using Two = typename Pair<T>::type;
  const auto* from = reinterpret_cast<const Two*>(x);
  auto* to = reinterpret_cast<Two*>(y);
  const std::int64_t first = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = first; i < count / 2; i += stride) to[i] = gelu(from[i]);
  if (count % 2 == 1 && first == 0) y[count - 1] = gelu(x[count - 1]);
}

}  // namespace

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  int blocks = 0, threads = 0;
  CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, by_pairs<T>));
  by_pairs<<<blocks, threads, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
