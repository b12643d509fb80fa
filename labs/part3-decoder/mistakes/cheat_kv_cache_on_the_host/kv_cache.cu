#include "kv_cache.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <vector>

#include "toolkit/check.h"

template <typename T>
std::vector<T> on_host(const T* device, size_t count, cudaStream_t stream) {
  std::vector<T> host(count);
  CUDA_CHECK(
      cudaMemcpyAsync(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return host;
}

template <typename T>
void append_on_host(const T* fresh, const std::vector<int>& positions, T* cache,
                    const KvCacheShape& s, cudaStream_t stream) {
  const size_t heads = static_cast<size_t>(s.batch) * s.heads, row = s.head_dim;
  const std::vector<T> from = on_host(fresh, heads * s.length * row, stream);
  std::vector<T> to = on_host(cache, heads * s.capacity * row, stream);
  for (int b = 0; b < s.batch; ++b) {
    for (int token = 0; token < s.length; ++token) {
      for (int h = 0; h < s.heads; ++h) {
        const size_t slot = positions[token] % s.capacity;
        std::copy_n(&from[((size_t(b) * s.length + token) * s.heads + h) * row], row,
                    &to[((size_t(b) * s.heads + h) * s.capacity + slot) * row]);
      }
    }
  }
  CUDA_CHECK(
      cudaMemcpyAsync(cache, to.data(), to.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  const std::vector<int> slots = on_host(positions, shape.length, stream);
  append_on_host(k, slots, key_cache, shape, stream);
  append_on_host(v, slots, value_cache, shape, stream);
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
