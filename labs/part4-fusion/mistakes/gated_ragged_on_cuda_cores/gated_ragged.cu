#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

__global__ void multiply(const __half* x, const __half* gate_proj, const __half* up_proj,
                         __half* product, MlpShape s) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<size_t>(s.tokens) * s.intermediate) return;
  const __half* own = x + i / s.intermediate * s.hidden;
  const size_t weights = i % s.intermediate * s.hidden;
  float gate = 0.0f, up = 0.0f;
  for (int k = 0; k < s.hidden; ++k) {
    gate += __half2float(own[k]) * __half2float(gate_proj[weights + k]);
    up += __half2float(own[k]) * __half2float(up_proj[weights + k]);
  }
  product[i] = __float2half(gelu(gate) * up);
}

void gated_ragged(const __half* x, const __half* gate_proj, const __half* up_proj, __half* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const size_t count = static_cast<size_t>(shape.tokens) * shape.intermediate;
  multiply<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(x, gate_proj, up_proj,
                                                                           product, shape);
  CUDA_CHECK(cudaGetLastError());
}
