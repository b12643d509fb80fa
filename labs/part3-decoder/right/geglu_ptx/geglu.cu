#include "geglu.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

namespace {

__device__ float take(const float* p, bool there) {
  float x;
  asm volatile(
      "{\n .reg .pred there;\n setp.ne.s32 there, %2, 0;\n mov.f32 %0, 0f00000000;\n"
      " @there ld.global.nc.f32 %0, [%1];\n}"
      : "=f"(x)
      : "l"(p), "r"(static_cast<int>(there)));
  return x;
}

__device__ float take(const __nv_bfloat16* p, bool there) {
  unsigned bits;
  asm volatile(
      "{\n .reg .pred there;\n .reg .u16 half;\n setp.ne.s32 there, %2, 0;\n mov.u16 half, 0;\n"
      " @there ld.global.nc.u16 half, [%1];\n cvt.u32.u16 %0, half;\n}"
      : "=r"(bits)
      : "l"(p), "r"(static_cast<int>(there)));
  return __uint_as_float(bits << 16);  // a bf16 is the upper half of a float
}

__device__ void put(float* p, float x, bool there) {
  asm volatile(
      "{\n .reg .pred there;\n setp.ne.s32 there, %2, 0;\n @there st.global.f32 [%0], %1;\n}" ::"l"(
          p),
      "f"(x), "r"(static_cast<int>(there))
      : "memory");
}

__device__ void put(__nv_bfloat16* p, float x, bool there) {
  if (there) *p = __float2bfloat16_rn(x);
}

__device__ float fused(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}

__device__ float gelu(float x) {
  const float cubic = fused(0.044715f * x * x, x, x);
  return fused(0.5f * x, tanhf(0.7978845608f * cubic), 0.5f * x);
}

template <typename T>
__global__ void __launch_bounds__(256)
    stay(const T* gate, const T* up, T* out, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * 256;
  const std::int64_t rounds = (count + stride - 1) / stride;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
  for (std::int64_t round = 0; round < rounds; ++round, i += stride) {
    const bool there = i < count;
    put(out + i, gelu(take(gate + i, there)) * take(up + i, there), there);
  }
}

}  // namespace

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  int device = 0, processors = 0, blocks = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stay<T>, 256, 0));
  stay<<<processors * blocks, 256, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
