#include "fused_gelu.h"

#include <algorithm>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

// Each warp has pieces of 64 vectors, two for a lane.
template <typename T>
__global__ void gelu_pieces(const T* x, T* y, std::int64_t count) {
  constexpr std::int64_t kVector = rooflab::kVectorSize<T>;
  constexpr std::int64_t kPiece = 64 * kVector;
  const std::int64_t warps = std::int64_t{gridDim.x} * (blockDim.x / 32);
  const std::int64_t warp = std::int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  for (std::int64_t piece = warp * kPiece; piece < count; piece += warps * kPiece) {
    for (int half = 0; half < 2; ++half) {
      const std::int64_t at = piece + (half * 32 + lane) * kVector;
      if (at >= count) break;
      float values[rooflab::kVectorSize<T>];
      rooflab::load(x + at, count - at, values);
      for (float& value : values) value = gelu(value);
      rooflab::store(y + at, count - at, values);
    }
  }
}

}  // namespace

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const std::int64_t of_block = kThreads * 2 * rooflab::kVectorSize<T>;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((count - 1) / of_block + 1, 65536));
  gelu_pieces<<<blocks, kThreads, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
