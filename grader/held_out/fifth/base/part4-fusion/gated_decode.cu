#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

using rooflab::to_float;

// Both sums of a feature travel together.
struct Two {
  float gate = 0, up = 0;
  __device__ Two& operator+=(Two other) {
    gate += other.gate;
    up += other.up;
    return *this;
  }
};

__device__ Two from_lane(Two mine, int distance) {
  return {__shfl_down_sync(kAllLanes, mine.gate, distance),
          __shfl_down_sync(kAllLanes, mine.up, distance)};
}

// A warp for each token and feature; features run fastest.
template <typename T>
__global__ void feature(const T* x, const T* gate_proj, const T* up_proj, T* product, MlpShape s) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = thread % kWarpSize;
  const int id = thread / kWarpSize;
  if (id >= s.tokens * s.intermediate) return;
  const int token = id / s.intermediate, f = id % s.intermediate;

  const T* in = x + token * s.hidden;
  const T* gate = gate_proj + f * s.hidden;
  const T* up = up_proj + f * s.hidden;
  Two sums;
  for (int h = lane; h < s.hidden; h += kWarpSize) {
    const float v = to_float(in[h]);
    sums += Two{v * to_float(gate[h]), v * to_float(up[h])};
  }
  for (int distance = kWarpSize / 2; distance > 0; distance >>= 1) sums += from_lane(sums, distance);
  if (lane == 0) product[id] = rooflab::from_float<T>(gelu(sums.gate) * sums.up);
}

}  // namespace

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const int warps = shape.tokens * shape.intermediate;
  constexpr int per_block = 8;
  feature<<<divide_up(warps, per_block), per_block * kWarpSize, 0, stream>>>(x, gate_proj, up_proj,
                                                                             product, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
