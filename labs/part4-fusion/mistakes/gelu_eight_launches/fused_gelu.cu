#include "fused_gelu.h"

#include "toolkit/check.h"
#include "toolkit/eager/pointwise.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kThreads = 256;

template <typename From, typename To>
__global__ void convert(const From* from, To* to, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) to[i] = rooflab::from_float<To>(rooflab::to_float(from[i]));
}

}  // namespace

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  namespace eager = rooflab::eager;
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  float *wide = nullptr, *result = nullptr;
  CUDA_CHECK(cudaMallocAsync(&wide, count * sizeof(float), stream));
  CUDA_CHECK(cudaMallocAsync(&result, count * sizeof(float), stream));
  convert<<<blocks, kThreads, 0, stream>>>(x, wide, count);
  eager::cube(wide, result, count, stream);
  eager::scale(result, 0.044715f, result, count, stream);
  eager::add(wide, result, result, count, stream);
  eager::scale(result, 0.7978845608f, result, count, stream);
  eager::tanh(result, result, count, stream);
  eager::add_number(result, 1.0f, result, count, stream);
  eager::scale(wide, 0.5f, wide, count, stream);
  eager::multiply(wide, result, result, count, stream);
  convert<<<blocks, kThreads, 0, stream>>>(result, y, count);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFreeAsync(wide, stream));
  CUDA_CHECK(cudaFreeAsync(result, stream));
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
