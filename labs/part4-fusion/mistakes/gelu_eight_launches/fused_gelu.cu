#include "fused_gelu.h"

#include <algorithm>

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
  constexpr std::int64_t kPiece = std::int64_t{1} << 28;  // what lies between the steps has to fit
  float *wide = nullptr, *result = nullptr;
  CUDA_CHECK(cudaMallocAsync(&wide, std::min(count, kPiece) * sizeof(float), stream));
  CUDA_CHECK(cudaMallocAsync(&result, std::min(count, kPiece) * sizeof(float), stream));
  for (std::int64_t first = 0; first < count; first += kPiece) {
    const std::int64_t n = std::min(count - first, kPiece);
    const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    convert<<<blocks, kThreads, 0, stream>>>(x + first, wide, n);
    eager::cube(wide, result, n, stream);
    eager::scale(result, 0.044715f, result, n, stream);
    eager::add(wide, result, result, n, stream);
    eager::scale(result, 0.7978845608f, result, n, stream);
    eager::tanh(result, result, n, stream);
    eager::add_number(result, 1.0f, result, n, stream);
    eager::scale(wide, 0.5f, wide, n, stream);
    eager::multiply(wide, result, result, n, stream);
    convert<<<blocks, kThreads, 0, stream>>>(result, y + first, n);
    CUDA_CHECK(cudaGetLastError());
  }
  CUDA_CHECK(cudaFreeAsync(wide, stream));
  CUDA_CHECK(cudaFreeAsync(result, stream));
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
