#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kWarps = 4;

// A warp for one feature of one token: blockIdx.y is the token.
template <typename T>
__global__ void gate_feature(const T* x, const T* gate_proj, const T* up_proj, T* product,
                             MlpShape shape) {
  const int lane = threadIdx.x % kWarpSize;
  const int feature = blockIdx.x * kWarps + threadIdx.x / kWarpSize;
  if (feature >= shape.intermediate) return;
  const int token = blockIdx.y;
  const T* token_x = x + token * shape.hidden;
  const T* gate_row = gate_proj + feature * shape.hidden;
  const T* up_row = up_proj + feature * shape.hidden;
  float gate = 0.0f;
  float up = 0.0f;
  for (int h = lane; h < shape.hidden; h += kWarpSize) {
    const float value = rooflab::to_float(token_x[h]);
    gate += value * rooflab::to_float(gate_row[h]);
    up += value * rooflab::to_float(up_row[h]);
  }
  gate = warp_sum(gate);
  up = warp_sum(up);
  if (lane == 0) {
    product[token * shape.intermediate + feature] = rooflab::from_float<T>(gelu(gate) * up);
  }
}

}  // namespace

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(divide_up(shape.intermediate, kWarps), shape.tokens);
  gate_feature<<<grid, kWarps * kWarpSize, 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
