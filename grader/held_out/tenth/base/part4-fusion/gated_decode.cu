#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::to_float;

// x of a block: features, four at a time, a warp each. y: tokens.
template <typename T>
__global__ void warp_per_feature(const T* x, const T* gate_proj, const T* up_proj, T* product,
                                 int tokens, int hidden, int intermediate) {
  const int lane = threadIdx.x % kWarpSize;
  const int feature = blockIdx.x * 4 + threadIdx.x / kWarpSize;
  if (feature >= intermediate) return;
  const T* g_row = gate_proj + static_cast<size_t>(feature) * hidden;
  const T* u_row = up_proj + static_cast<size_t>(feature) * hidden;
  for (int token = blockIdx.y; token < tokens; token += gridDim.y) {
    const T* x_row = x + static_cast<size_t>(token) * hidden;
    float gate = 0.0f;
    float up = 0.0f;
    for (int k = lane; k < hidden; k += kWarpSize) {
      const float v = to_float(x_row[k]);
      gate += v * to_float(g_row[k]);
      up += v * to_float(u_row[k]);
    }
    gate = warp_sum(gate);
    up = warp_sum(up);
    if (lane == 0) {
      product[static_cast<size_t>(token) * intermediate + feature] =
          rooflab::from_float<T>(gelu(gate) * up);
    }
  }
}

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const dim3 grid(divide_up(shape.intermediate, 4), shape.tokens < 1024 ? shape.tokens : 1024);
  warp_per_feature<T><<<grid, 4 * kWarpSize, 0, stream>>>(x, gate_proj, up_proj, product,
                                                          shape.tokens, shape.hidden,
                                                          shape.intermediate);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
