#include "fused_gelu.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

// Each thread handles one 16-byte vector; the toolkit's load and store see to the ragged end.
template <typename T>
__global__ void gelu_vectors(const T* x, T* y, std::int64_t count) {
  constexpr int V = rooflab::kVectorSize<T>;
  const std::int64_t v = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t begin = v * V;
  if (begin >= count) return;
  float r[V];
  rooflab::load(x + begin, count - begin, r);
#pragma unroll
  for (int i = 0; i < V; ++i) r[i] = gelu(r[i]);
  rooflab::store(y + begin, count - begin, r);
}

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  constexpr std::int64_t kPerBlock = 128 * rooflab::kVectorSize<T>;
  const std::int64_t blocks = (count + kPerBlock - 1) / kPerBlock;
  gelu_vectors<<<static_cast<unsigned>(blocks), 128, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
