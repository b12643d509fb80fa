#include "geglu.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

__device__ float smooth_gate(float g) {
  const float slope = 0.79788456f;  // sqrt(2 / pi)
  const float cubic = 0.044715f * g * g * g;
  const float bent = tanhf(slope * (g + cubic));
  return 0.5f * g * (1.0f + bent);
}

template <typename T>
__global__ void gate_times_up(const T* gate, const T* up, T* out, std::int64_t count) {
  const std::int64_t jump = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  while (i < count) {
    out[i] = from_float<T>(smooth_gate(to_float(gate[i])) * to_float(up[i]));
    i += jump;
  }
}

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  const std::int64_t blocks = (count + 255) / 256;
  const unsigned grid = blocks > 100000 ? 100000u : static_cast<unsigned>(blocks);
  gate_times_up<<<grid, 256, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
