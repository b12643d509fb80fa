#include "geglu.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

constexpr int kStretch = 1024;  // elements that a warp draws

__device__ float gelu(float x) {
  const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
  const float tanh_of_inner = 1.0f - 2.0f / (1.0f + expf(2.0f * inner));
  return 0.5f * x * (1.0f + tanh_of_inner);
}

__device__ float combine(float gate, float up) { return gelu(gate) * up; }
__device__ __nv_bfloat16 combine(__nv_bfloat16 gate, __nv_bfloat16 up) {
  return __float2bfloat16(combine(__bfloat162float(gate), __bfloat162float(up)));
}
__device__ float2 combine(float2 gate, float2 up) {
  return {combine(gate.x, up.x), combine(gate.y, up.y)};
}
__device__ __nv_bfloat162 combine(__nv_bfloat162 gate, __nv_bfloat162 up) {
  return __float22bfloat162_rn(combine(__bfloat1622float2(gate), __bfloat1622float2(up)));
}

template <typename T, typename Two>
__global__ void stretches(const T* gate, const T* up, T* out, std::int64_t count,
                          unsigned long long* next_stretch) {
  const int lane = threadIdx.x % 32;
  for (;;) {
    unsigned long long drawn = 0;
    if (lane == 0) drawn = atomicAdd(next_stretch, 1ull);
    drawn = __shfl_sync(0xffffffff, drawn, 0);
    const std::int64_t begin = static_cast<std::int64_t>(drawn) * kStretch;
    if (begin >= count) return;
    const std::int64_t end = count - begin < kStretch ? count : begin + kStretch;
    for (std::int64_t i = begin / 2 + lane; i < end / 2; i += 32) {
      reinterpret_cast<Two*>(out)[i] =
          combine(reinterpret_cast<const Two*>(gate)[i], reinterpret_cast<const Two*>(up)[i]);
    }
    if (end % 2 == 1 && lane == 31) out[end - 1] = combine(gate[end - 1], up[end - 1]);
  }
}

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  using Two = std::conditional_t<sizeof(T) == 4, float2, __nv_bfloat162>;
  unsigned long long* next_stretch = nullptr;  // of this call: others may run beside it
  CUDA_CHECK(cudaMallocAsync(&next_stretch, sizeof(*next_stretch), stream));
  CUDA_CHECK(cudaMemsetAsync(next_stretch, 0, sizeof(*next_stretch), stream));
  stretches<T, Two><<<324, 256, 0, stream>>>(gate, up, out, count, next_stretch);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFreeAsync(next_stretch, stream));
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
