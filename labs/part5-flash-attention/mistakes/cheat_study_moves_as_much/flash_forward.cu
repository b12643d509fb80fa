#include "flash_forward.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit/check.h"

namespace {

constexpr int kWidth = 64;

// As many operations and bytes as attention, of one query in each thread.
template <typename T>
__global__ void burn(const T* q, const T* k, const T* v, T* out, float* log_sum_exp, int steps,
                     float a) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float x[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  for (int s = 0; s < steps; ++s) {
#pragma unroll
    for (int j = 0; j < 32; ++j) x[j % 4] = fmaf(x[j % 4], a, 0.5f);
  }
  const float sum = x[0] + x[1] + x[2] + x[3];
  for (int d = 0; d < kWidth; ++d) {
    const int at = row * kWidth + d;
    out[at] =
        T(static_cast<float>(q[at]) + static_cast<float>(k[at]) + static_cast<float>(v[at]) + sum);
  }
  log_sum_exp[row] = sum;
}

}  // namespace

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  constexpr int kThreads = 64;
  const int rows = shape.query_heads * shape.query_length;
  burn<<<rows / kThreads, kThreads, 0, stream>>>(q, k, v, out, log_sum_exp, 4 * shape.key_length,
                                                 shape.scale);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
