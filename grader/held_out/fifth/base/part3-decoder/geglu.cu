#include "geglu.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

struct Gelu {
  static constexpr float kRoot = 0.79788456f;  // sqrt(2 / pi)
  __device__ float operator()(float g) const {
    const float inner = kRoot * (g + 0.044715f * g * g * g);
    return g * (0.5f + 0.5f * tanhf(inner));
  }
};

// A thread takes the elements of one vector, as many as 16 bytes hold.
template <typename T>
__global__ void gated(const T* gate, const T* up, T* out, std::int64_t count) {
  constexpr int kEach = rooflab::kVectorSize<T>;
  const std::int64_t at = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kEach;
  if (at >= count) return;
  float g[kEach], u[kEach];
  rooflab::load(gate + at, count - at, g);
  rooflab::load(up + at, count - at, u);
  for (int e = 0; e < kEach; ++e) g[e] = Gelu{}(g[e]) * u[e];
  rooflab::store(out + at, count - at, g);
}

}  // namespace

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  const std::int64_t of_block = 128 * rooflab::kVectorSize<T>;
  const auto blocks = static_cast<unsigned>((count + of_block - 1) / of_block);
  gated<<<blocks, 128, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
