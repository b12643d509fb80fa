#include "toolkit/add.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

namespace rooflab {
namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void add_kernel(T* x, const T* y, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) x[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
}

}  // namespace

template <typename T>
void add(T* x, const T* y, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;  // no grid is that small
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  add_kernel<<<blocks, kThreads, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void add(float*, const float*, std::int64_t, cudaStream_t);
template void add(__nv_bfloat16*, const __nv_bfloat16*, std::int64_t, cudaStream_t);

}  // namespace rooflab
