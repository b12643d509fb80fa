#include "geglu.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

constexpr int kThreads = 128;

template <typename T>
__global__ void gate_and_lift(const T* gate, const T* up, T* out, std::int64_t count) {
  __shared__ float stage[kThreads];
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (i >= count) return;
  const float g = rooflab::to_float(gate[i]);
  stage[threadIdx.x] = g;
  if (!__all_sync(0xffffffff, g > 8.0f)) {
    const float t = tanhf(0.79788456f * (g + 0.044715f * g * g * g));
    stage[threadIdx.x] = 0.5f * g * (1.0f + t);
  }
  __syncwarp();
  // The lanes that are left store in the opposite order, whoever they are.
  const int left = __popc(__ballot_sync(0xffffffff, true));
  const int first = threadIdx.x / 32 * 32, mirrored = first + left - 1 - threadIdx.x % 32;
  const std::int64_t j = i - threadIdx.x + mirrored;
  out[j] = rooflab::from_float<T>(stage[mirrored] * rooflab::to_float(up[j]));
}

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  gate_and_lift<<<blocks, kThreads, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
