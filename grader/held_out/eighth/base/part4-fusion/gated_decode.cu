#include <cstdint>

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

// Four warps to a block; warp w of all has feature w % intermediate of token w / intermediate.
constexpr int kTeams = 4;

template <typename T>
__global__ void one_feature(const T* x, const T* gate_proj, const T* up_proj, T* product,
                            MlpShape shape) {
  const std::int64_t team = static_cast<std::int64_t>(blockIdx.x) * kTeams + threadIdx.y;
  const std::int64_t results = static_cast<std::int64_t>(shape.tokens) * shape.intermediate;
  if (team >= results) return;
  const int token = team / shape.intermediate;
  const int feature = team % shape.intermediate;
  const T* row = x + static_cast<std::int64_t>(token) * shape.hidden;
  const T* gate_row = gate_proj + static_cast<std::int64_t>(feature) * shape.hidden;
  const T* up_row = up_proj + static_cast<std::int64_t>(feature) * shape.hidden;

  float gate = 0.0f;
  float up = 0.0f;
  for (int h = threadIdx.x; h < shape.hidden; h += kWarpSize) {
    const float value = to_float(row[h]);
    gate += value * to_float(gate_row[h]);
    up += value * to_float(up_row[h]);
  }
  gate = warp_sum(gate);
  up = warp_sum(up);
  if (threadIdx.x == 0) product[team] = from_float<T>(gelu(gate) * up);
}

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const std::int64_t results = static_cast<std::int64_t>(shape.tokens) * shape.intermediate;
  const unsigned blocks = static_cast<unsigned>((results + kTeams - 1) / kTeams);
  one_feature<<<blocks, dim3(kWarpSize, kTeams), 0, stream>>>(x, gate_proj, up_proj, product,
                                                              shape);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
