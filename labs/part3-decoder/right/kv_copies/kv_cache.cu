#include "kv_cache.h"

#include <cuda_bf16.h>

#include <algorithm>

#include "toolkit/check.h"

template <typename T>
class Ring {
 public:
  Ring(const KvCacheShape& shape, int first_position, cudaStream_t stream)
      : shape_(shape), first_(first_position), stream_(stream) {}

  void append(const T* from, T* cache) const {
    // Of more tokens than slots the last ones stay.
    const int skipped = std::max(0, shape_.length - shape_.capacity);
    for (int sequence = 0; sequence < shape_.batch; ++sequence) {
      for (int head = 0; head < shape_.heads; ++head) {
        int token = skipped;
        while (token < shape_.length) {
          const int slot = (first_ + token) % shape_.capacity;
          const int count = std::min(shape_.length - token, shape_.capacity - slot);
          copy(from + at(sequence, token, head), cache + slot_at(sequence, head, slot), count);
          token += count;
        }
      }
    }
  }

 private:
  std::size_t at(int sequence, int token, int head) const {
    return ((static_cast<std::size_t>(sequence) * shape_.length + token) * shape_.heads + head) *
           shape_.head_dim;
  }
  std::size_t slot_at(int sequence, int head, int slot) const {
    return ((static_cast<std::size_t>(sequence) * shape_.heads + head) * shape_.capacity + slot) *
           shape_.head_dim;
  }
  void copy(const T* from, T* to, int tokens) const {
    const std::size_t width = shape_.head_dim * sizeof(T);
    CUDA_CHECK(cudaMemcpy2DAsync(to, width, from, width * shape_.heads, width, tokens,
                                 cudaMemcpyDeviceToDevice, stream_));
  }

  KvCacheShape shape_;
  int first_;
  cudaStream_t stream_;
};

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  int first = 0;
  CUDA_CHECK(cudaMemcpyAsync(&first, positions, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  const Ring<T> ring(shape, first, stream);
  ring.append(k, key_cache);
  ring.append(v, value_cache);
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
