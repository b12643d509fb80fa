#include "kv_cache.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

#define TPB 128

typedef long long i64;

// block = token of a sequence; threads run over heads * head_dim
template <typename T>
__global__ void appendKernel(const T* k, const T* v, const int* pos, T* kc, T* vc,
                             KvCacheShape sh, int first) {
  const int t = first + blockIdx.x;
  const int b = blockIdx.y;
  const int slot = pos[t] % sh.capacity;
  const int n = sh.heads * sh.head_dim;

  for (int i = threadIdx.x; i < n; i += TPB) {
    const int h = i / sh.head_dim;
    const int d = i % sh.head_dim;
    const i64 src = ((i64)b * sh.length + t) * n + i;
    const i64 dst = (((i64)b * sh.heads + h) * sh.capacity + slot) * sh.head_dim + d;
    kc[dst] = k[src];
    vc[dst] = v[src];
  }
}

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  // only the last `capacity` tokens survive, the others would race for the same slot
  const int first = shape.length > shape.capacity ? shape.length - shape.capacity : 0;
  dim3 grid(shape.length - first, shape.batch);
  appendKernel<T><<<grid, TPB, 0, stream>>>(k, v, positions, key_cache, value_cache, shape, first);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
