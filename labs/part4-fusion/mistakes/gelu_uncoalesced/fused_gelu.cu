#include "fused_gelu.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kThreads = 256;
constexpr int kRun = 64;

template <typename T>
__global__ void fused_gelu_kernel(const T* x, T* y, std::int64_t count) {
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kRun;
  for (std::int64_t i = first; i < first + kRun && i < count; ++i) {
    const float value = rooflab::to_float(x[i]);
    const float inner = 0.7978845608f * (value + 0.044715f * value * value * value);
    y[i] = rooflab::from_float<T>(0.5f * value * (1.0f + tanhf(inner)));
  }
}

}  // namespace

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  constexpr std::int64_t kPerBlock = kThreads * kRun;
  const auto blocks = static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
  fused_gelu_kernel<<<blocks, kThreads, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
