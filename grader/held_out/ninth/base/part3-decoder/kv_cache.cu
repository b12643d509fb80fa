#include "kv_cache.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>

#include "toolkit/check.h"

namespace {

// Indexes an array of four dimensions.
struct Layout {
  std::int64_t s0, s1, s2;
  __host__ __device__ Layout(int d1, int d2, int d3)
      : s0(std::int64_t(d1) * d2 * d3), s1(std::int64_t(d2) * d3), s2(d3) {}
  __host__ __device__ std::int64_t at(int i0, int i1, int i2, int i3) const {
    return i0 * s0 + i1 * s1 + i2 * s2 + i3;
  }
};

template <typename T>
__global__ void append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                       KvCacheShape s, int skipped) {
  const int token = skipped + blockIdx.x;
  const int sequence = blockIdx.y;
  const int slot = positions[token] % s.capacity;
  const Layout from(s.length, s.heads, s.head_dim);
  const Layout to(s.heads, s.capacity, s.head_dim);
  for (int e = threadIdx.x; e < s.heads * s.head_dim; e += blockDim.x) {
    const int h = e / s.head_dim, d = e % s.head_dim;
    key_cache[to.at(sequence, h, slot, d)] = k[from.at(sequence, token, h, d)];
    value_cache[to.at(sequence, h, slot, d)] = v[from.at(sequence, token, h, d)];
  }
}

}  // namespace

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  const int kept = std::min(shape.length, shape.capacity);
  const dim3 grid(kept, shape.batch);
  append<<<grid, 128, 0, stream>>>(k, v, positions, key_cache, value_cache, shape,
                                   shape.length - kept);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
