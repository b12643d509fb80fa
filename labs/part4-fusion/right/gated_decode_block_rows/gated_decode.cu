#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

constexpr int kThreads = 128;

template <typename T>
__global__ void feature_of_a_block(const T* x, const T* gate_proj, const T* up_proj, T* product,
                                   MlpShape shape) {
  __shared__ float2 sums[kThreads];
  const int feature = blockIdx.x;
  for (int token = 0; token < shape.tokens; ++token) {
    float2 sum = {0.0f, 0.0f};
    for (int k = threadIdx.x; k < shape.hidden; k += kThreads) {
      const float value = rooflab::to_float(x[size_t{1} * token * shape.hidden + k]);
      const size_t at = size_t{1} * feature * shape.hidden + k;
      sum.x += value * rooflab::to_float(gate_proj[at]);
      sum.y += value * rooflab::to_float(up_proj[at]);
    }
    sums[threadIdx.x] = sum;
    for (int half = kThreads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) {
        sums[threadIdx.x].x += sums[threadIdx.x + half].x;
        sums[threadIdx.x].y += sums[threadIdx.x + half].y;
      }
    }
    if (threadIdx.x == 0) {
      product[size_t{1} * token * shape.intermediate + feature] =
          rooflab::from_float<T>(gelu(sums[0].x) * sums[0].y);
    }
    __syncthreads();
  }
}

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  feature_of_a_block<<<shape.intermediate, kThreads, 0, stream>>>(x, gate_proj, up_proj, product,
                                                                  shape);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
