#include "layer.h"

#include <cuda_bf16.h>

#include "kv_cache.h"
#include "layer_steps.h"

namespace {

template <typename T>
Projections<T> room_for(const LayerContext& context, const LayerShape& shape, int tokens) {
  const size_t of_query = static_cast<size_t>(shape.query_heads) * shape.head_dim;
  const size_t of_key = static_cast<size_t>(shape.key_value_heads) * shape.head_dim;
  Projections<T> projected;
  projected.q = context.workspace.take<T>(tokens * of_query);
  projected.k = context.workspace.take<T>(tokens * of_key);
  projected.v = context.workspace.take<T>(tokens * of_key);
  return projected;
}

// A cache in the workspace that has room for the whole text.
template <typename T>
KvCache<T> cache_for(const LayerContext& context, const LayerShape& shape, int batch, int length) {
  const size_t elements =
      static_cast<size_t>(batch) * shape.key_value_heads * length * shape.head_dim;
  KvCache<T> cache;
  cache.keys = context.workspace.take<T>(elements);
  cache.values = context.workspace.take<T>(elements);
  cache.capacity = length;
  return cache;
}

// All three steps; `cache` has room for every key that is needed.
template <typename T>
Projections<T> forward(const LayerContext& context, const LayerShape& shape,
                       const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                       int length, const KvCache<T>& cache) {
  const int tokens = batch * length;
  const Projections<T> projected = room_for<T>(context, shape, tokens);
  layer_projections(context, shape, weights, hidden, positions, batch, length, projected);
  layer_attention(context, shape, weights, hidden, projected, positions, batch, length, cache);
  layer_mlp(context, shape, weights, hidden, tokens);
  return projected;
}

}  // namespace

template <typename T>
void prefill_forward(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                     int length, const KvCache<T>& cache) {
  const rooflab::Workspace::Scope scope(context.workspace);
  if (length <= cache.capacity) {
    forward(context, shape, weights, hidden, positions, batch, length, cache);
    return;
  }
  const KvCache<T> whole = cache_for<T>(context, shape, batch, length);
  const Projections<T> projected =
      forward(context, shape, weights, hidden, positions, batch, length, whole);
  const KvCacheShape kept{batch, length, shape.key_value_heads, shape.head_dim, cache.capacity};
  kv_cache_append(projected.k, projected.v, positions, cache.keys, cache.values, kept,
                  context.stream);
}

template <typename T>
void decode_forward(const LayerContext& context, const LayerShape& shape,
                    const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                    const KvCache<T>& cache) {
  const rooflab::Workspace::Scope scope(context.workspace);
  forward(context, shape, weights, hidden, positions, batch, 1, cache);
}

template <typename T>
void decode_without_cache_forward(const LayerContext& context, const LayerShape& shape,
                                  const LayerWeights<T>& weights, T* hidden, const int* positions,
                                  int batch, int length) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const KvCache<T> whole = cache_for<T>(context, shape, batch, length);
  forward(context, shape, weights, hidden, positions, batch, length, whole);
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
