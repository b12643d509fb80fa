#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

struct GateAndUp {
  float gate = 0.0f, up = 0.0f;
  __device__ void multiply(float x, float g, float u) {
    gate += x * g;
    up += x * u;
  }
  __device__ float finish() {
    gate = warp_sum(gate);
    up = warp_sum(up);
    return gelu(gate) * up;
  }
};

constexpr int kFeaturesPerBlock = 8;

template <typename T>
__global__ void feature_per_warp(const T* x, const T* gate_proj, const T* up_proj, T* product,
                                 MlpShape shape) {
  using rooflab::to_float;
  const int lane = threadIdx.x % kWarpSize;
  const int feature = blockIdx.x * kFeaturesPerBlock + threadIdx.x / kWarpSize;
  if (feature >= shape.intermediate) return;
  const T* gate_row = gate_proj + static_cast<size_t>(feature) * shape.hidden;
  const T* up_row = up_proj + static_cast<size_t>(feature) * shape.hidden;
  for (int token = 0; token < shape.tokens; ++token) {
    const T* x_row = x + static_cast<size_t>(token) * shape.hidden;
    GateAndUp sums;
    for (int h = lane; h < shape.hidden; h += kWarpSize) {
      sums.multiply(to_float(x_row[h]), to_float(gate_row[h]), to_float(up_row[h]));
    }
    const float result = sums.finish();
    if (lane == 0) {
      product[static_cast<size_t>(token) * shape.intermediate + feature] =
          rooflab::from_float<T>(result);
    }
  }
}

}  // namespace

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const int blocks = divide_up(shape.intermediate, kFeaturesPerBlock);
  feature_per_warp<T><<<blocks, kFeaturesPerBlock * kWarpSize, 0, stream>>>(
      x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
