#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define WARPS 4

struct two_sums {
  float gate;
  float up;
};

/* What this lane adds to the two sums of a token and a feature. */
template <typename T>
__device__ static struct two_sums partial_sums(const T* token, const T* gate_row, const T* up_row,
                                               int hidden, int lane) {
  struct two_sums s = {0.0f, 0.0f};
  int i;
  for (i = lane; i < hidden; i += kWarpSize) {
    float v = rooflab::to_float(token[i]);
    s.gate += v * rooflab::to_float(gate_row[i]);
    s.up += v * rooflab::to_float(up_row[i]);
  }
  return s;
}

template <typename T>
__global__ void decode_kernel(const T* x, const T* gate_proj, const T* up_proj, T* product,
                              struct MlpShape s) {
  int lane = threadIdx.x % kWarpSize;
  int job = blockIdx.x * WARPS + threadIdx.x / kWarpSize;
  if (job >= s.tokens * s.intermediate) return;

  int token = job / s.intermediate;
  int feature = job % s.intermediate;
  struct two_sums sums = partial_sums(x + token * s.hidden, gate_proj + feature * s.hidden,
                                      up_proj + feature * s.hidden, s.hidden, lane);
  sums.gate = warp_sum(sums.gate);
  sums.up = warp_sum(sums.up);
  if (lane == 0) product[job] = rooflab::from_float<T>(gelu(sums.gate) * sums.up);
}

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  int jobs = shape.tokens * shape.intermediate;
  decode_kernel<T><<<divide_up(jobs, WARPS), WARPS * kWarpSize, 0, stream>>>(x, gate_proj, up_proj,
                                                                            product, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
