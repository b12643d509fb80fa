#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kWarps = 4;

// A warp has one feature of one token; a warp whose number is beyond the last has nothing to do.
template <typename T>
__global__ void gated_dots(const T* x, const T* gate_proj, const T* up_proj, T* product,
                           MlpShape shape) {
  const long long number = (long long)blockIdx.x * kWarps + threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  if (number >= (long long)shape.tokens * shape.intermediate) return;
  const long long token = number / shape.intermediate, feature = number % shape.intermediate;

  const T* in = x + token * shape.hidden;
  const T* gate_row = gate_proj + feature * shape.hidden;
  const T* up_row = up_proj + feature * shape.hidden;
  float2 sums = make_float2(0.0f, 0.0f);
  for (int d = lane; d < shape.hidden; d += kWarpSize) {
    const float value = rooflab::to_float(in[d]);
    sums.x += value * rooflab::to_float(gate_row[d]);
    sums.y += value * rooflab::to_float(up_row[d]);
  }
  const float gate = warp_sum(sums.x);
  const float up = warp_sum(sums.y);
  if (lane == 0) product[number] = rooflab::from_float<T>(gelu(gate) * up);
}

}  // namespace

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const long long warps = (long long)shape.tokens * shape.intermediate;
  const auto blocks = static_cast<unsigned>((warps + kWarps - 1) / kWarps);
  gated_dots<<<blocks, kWarps * kWarpSize, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
