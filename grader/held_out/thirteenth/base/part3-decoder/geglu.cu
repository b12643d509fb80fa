#include "geglu.h"

#include <algorithm>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kThreads = 160;

__device__ float tanh_gelu(float g) {
  const float cubic = 0.044715f * g * g * g;
  const float inner = 0.7978845608028654f * (g + cubic);
  return 0.5f * g * (1.0f + tanhf(inner));
}

template <typename T>
__global__ void gate_up(const T* gate, const T* up, T* out, std::int64_t count) {
  constexpr int kSize = rooflab::kVectorSize<T>;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads * kSize;
  std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kSize;
  for (; at < count; at += stride) {
    float g[kSize], u[kSize];
    rooflab::load(gate + at, count - at, g);
    rooflab::load(up + at, count - at, u);
    for (int e = 0; e < kSize; ++e) u[e] *= tanh_gelu(g[e]);
    rooflab::store(out + at, count - at, u);
  }
}

}  // namespace

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  const std::int64_t of_block = kThreads * rooflab::kVectorSize<T>;
  const std::int64_t blocks = std::min<std::int64_t>((count + of_block - 1) / of_block, 1 << 20);
  gate_up<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
