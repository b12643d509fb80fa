#include "geglu.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kTeam = 256;

__device__ float bend(float x) {
  const float cube = x * x * x;
  const float inner = 0.7978845608f * (x + 0.044715f * cube);
  return 0.5f * x * (1.0f + tanhf(inner));
}

template <typename T>
__global__ void gate_elements(const T* gate, const T* up, T* out, std::int64_t count) {
  constexpr int kOf = rooflab::kVectorSize<T>;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kTeam + threadIdx.x;
  const std::int64_t at = thread * kOf;
  if (at >= count) return;
  float g[kOf], u[kOf];
  rooflab::load(gate + at, count - at, g);
  rooflab::load(up + at, count - at, u);
#pragma unroll
  for (int i = 0; i < kOf; ++i) u[i] = bend(g[i]) * u[i];
  rooflab::store(out + at, count - at, u);
}

}  // namespace

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  const std::int64_t of_block = kTeam * rooflab::kVectorSize<T>;
  const auto blocks = static_cast<unsigned>((count - 1) / of_block + 1);
  gate_elements<<<blocks, kTeam, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
