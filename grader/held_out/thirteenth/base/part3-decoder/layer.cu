#include "layer.h"

#include <cuda_bf16.h>

#include "kv_cache.h"
#include "layer_steps.h"

namespace {

template <typename T>
class Layer {
 public:
  Layer(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
        int batch)
      : context_(context), shape_(shape), weights_(weights), batch_(batch) {}

  // A cache in the workspace, for as long as the caller's scope lasts.
  KvCache<T> borrow(int capacity) const {
    const size_t elements = keys_of(capacity);
    KvCache<T> cache{};
    cache.keys = context_.workspace.template take<T>(elements);
    cache.values = context_.workspace.template take<T>(elements);
    cache.capacity = capacity;
    return cache;
  }

  // All three steps; `ring`, where there is one, gets the keys and values, too.
  void run(T* hidden, const int* positions, int length, const KvCache<T>& cache,
           const KvCache<T>* ring = nullptr) const {
    const rooflab::Workspace::Scope scope(context_.workspace);
    const size_t queries =
        static_cast<size_t>(batch_) * length * shape_.query_heads * shape_.head_dim;
    Projections<T> made{};
    made.q = context_.workspace.template take<T>(queries);
    made.k = context_.workspace.template take<T>(keys_of(length));
    made.v = context_.workspace.template take<T>(keys_of(length));
    layer_projections(context_, shape_, weights_, hidden, positions, batch_, length, made);
    if (ring != nullptr) {
      const KvCacheShape kept{batch_, length, shape_.key_value_heads, shape_.head_dim,
                              ring->capacity};
      kv_cache_append(made.k, made.v, positions, ring->keys, ring->values, kept, context_.stream);
    }
    layer_attention(context_, shape_, weights_, hidden, made, positions, batch_, length, cache);
    layer_mlp(context_, shape_, weights_, hidden, batch_ * length);
  }

 private:
  size_t keys_of(int tokens) const {
    return static_cast<size_t>(batch_) * tokens * shape_.key_value_heads * shape_.head_dim;
  }

  const LayerContext& context_;
  const LayerShape& shape_;
  const LayerWeights<T>& weights_;
  int batch_;
};

}  // namespace

template <typename T>
void prefill_forward(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                     int length, const KvCache<T>& cache) {
  const Layer<T> layer(context, shape, weights, batch);
  if (length <= cache.capacity) return layer.run(hidden, positions, length, cache);
  const rooflab::Workspace::Scope scope(context.workspace);
  layer.run(hidden, positions, length, layer.borrow(length), &cache);
}

template <typename T>
void decode_forward(const LayerContext& context, const LayerShape& shape,
                    const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                    const KvCache<T>& cache) {
  Layer<T>(context, shape, weights, batch).run(hidden, positions, 1, cache);
}

template <typename T>
void decode_without_cache_forward(const LayerContext& context, const LayerShape& shape,
                                  const LayerWeights<T>& weights, T* hidden, const int* positions,
                                  int batch, int length) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const Layer<T> layer(context, shape, weights, batch);
  layer.run(hidden, positions, length, layer.borrow(length));
}

template void prefill_forward(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                              float*, const int*, int, int, const KvCache<float>&);
template void prefill_forward(const LayerContext&, const LayerShape&,
                              const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*, const int*, int,
                              int, const KvCache<__nv_bfloat16>&);
template void decode_forward(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                             float*, const int*, int, const KvCache<float>&);
template void decode_forward(const LayerContext&, const LayerShape&,
                             const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*, const int*, int,
                             const KvCache<__nv_bfloat16>&);
template void decode_without_cache_forward(const LayerContext&, const LayerShape&,
                                           const LayerWeights<float>&, float*, const int*, int,
                                           int);
template void decode_without_cache_forward(const LayerContext&, const LayerShape&,
                                           const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*,
                                           const int*, int, int);
