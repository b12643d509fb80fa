#include "geglu.h"

#include <algorithm>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

__device__ float gelu_of(float x) {
  constexpr float kRoot = 0.797884560803f;  // of 2 / pi
  const float bent = x * (1.0f + 0.044715f * x * x);
  return x * (0.5f + 0.5f * tanhf(kRoot * bent));
}

template <typename T>
__global__ void gate_up(const T* gate, const T* up, T* out, std::int64_t count) {
  constexpr int kSize = rooflab::kVectorSize<T>;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x * kSize;
  std::int64_t at = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kSize;
  for (; at < count; at += stride) {
    float g[kSize], u[kSize];
    rooflab::load(gate + at, count - at, g);
    rooflab::load(up + at, count - at, u);
    for (int i = 0; i < kSize; ++i) u[i] *= gelu_of(g[i]);
    rooflab::store(out + at, count - at, u);
  }
}

}  // namespace

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  constexpr int kThreads = 64;
  const std::int64_t of_block = kThreads * rooflab::kVectorSize<T>;
  const std::int64_t blocks = std::min<std::int64_t>((count + of_block - 1) / of_block, 1 << 22);
  gate_up<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
