#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kWarps = 8;

// A warp has one feature, and takes the tokens one after the other.
template <typename T>
__global__ void feature_of_warp(const T* x, const T* gate_proj, const T* up_proj, T* product,
                                MlpShape shape) {
  const int feature = blockIdx.x * kWarps + threadIdx.y;
  if (feature >= shape.intermediate) return;
  const T* gate_row = gate_proj + static_cast<size_t>(feature) * shape.hidden;
  const T* up_row = up_proj + static_cast<size_t>(feature) * shape.hidden;
  for (int token = 0; token < shape.tokens; ++token) {
    const T* in = x + static_cast<size_t>(token) * shape.hidden;
    float gate = 0.0f, up = 0.0f;
    for (int k = threadIdx.x; k < shape.hidden; k += kWarpSize) {
      const float value = rooflab::to_float(in[k]);
      gate = fmaf(value, rooflab::to_float(gate_row[k]), gate);
      up = fmaf(value, rooflab::to_float(up_row[k]), up);
    }
    gate = warp_sum(gate);
    up = warp_sum(up);
    if (threadIdx.x == 0) {
      product[static_cast<size_t>(token) * shape.intermediate + feature] =
          rooflab::from_float<T>(gelu(gate) * up);
    }
  }
}

}  // namespace

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const dim3 block(kWarpSize, kWarps);
  feature_of_warp<<<divide_up(shape.intermediate, kWarps), block, 0, stream>>>(
      x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
