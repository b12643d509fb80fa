#include "fused_gelu.h"

#include <algorithm>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kTeam = 160;

template <typename T>
__global__ void gelu_all(const T* x, T* y, std::int64_t count) {
  constexpr int kStep = rooflab::kVectorSize<T>;
  const std::int64_t grid = static_cast<std::int64_t>(gridDim.x) * kTeam * kStep;
  std::int64_t at = (static_cast<std::int64_t>(blockIdx.x) * kTeam + threadIdx.x) * kStep;
  while (at < count) {
    const std::int64_t left = count - at;
    float values[kStep];
    rooflab::load(x + at, left, values);
    for (float& value : values) value = gelu(value);
    rooflab::store(y + at, left, values);
    at += grid;
  }
}

}  // namespace

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  const std::int64_t of_block = 2 * kTeam * rooflab::kVectorSize<T>;  // two vectors for a thread
  const std::int64_t blocks = std::min<std::int64_t>((count + of_block - 1) / of_block, 1 << 20);
  gelu_all<<<static_cast<unsigned>(blocks), kTeam, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
