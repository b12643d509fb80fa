#include "layer.h"

#include <cuda_bf16.h>

#include "kv_cache.h"
#include "layer_steps.h"

namespace {

template <typename T>
Projections<T> room_for_projections(const LayerContext& c, const LayerShape& s, int tokens) {
  const size_t q = size_t(tokens) * s.query_heads * s.head_dim;
  const size_t kv = size_t(tokens) * s.key_value_heads * s.head_dim;
  Projections<T> p;
  p.q = c.workspace.take<T>(q);
  p.k = c.workspace.take<T>(kv);
  p.v = c.workspace.take<T>(kv);
  return p;
}

template <typename T>
KvCache<T> room_for_cache(const LayerContext& c, const LayerShape& s, int batch, int length) {
  const size_t size = size_t(batch) * s.key_value_heads * length * s.head_dim;
  KvCache<T> cache;
  cache.keys = c.workspace.take<T>(size);
  cache.values = c.workspace.take<T>(size);
  cache.capacity = length;
  return cache;
}

}  // namespace

template <typename T>
void prefill_forward(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                     int length, const KvCache<T>& cache) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const auto p = room_for_projections<T>(context, shape, batch * length);
  layer_projections(context, shape, weights, hidden, positions, batch, length, p);
  if (length <= cache.capacity) {
    layer_attention(context, shape, weights, hidden, p, positions, batch, length, cache);
  } else {
    const auto all = room_for_cache<T>(context, shape, batch, length);
    layer_attention(context, shape, weights, hidden, p, positions, batch, length, all);
    const KvCacheShape ring{batch, length, shape.key_value_heads, shape.head_dim, cache.capacity};
    kv_cache_append(p.k, p.v, positions, cache.keys, cache.values, ring, context.stream);
  }
  layer_mlp(context, shape, weights, hidden, batch * length);
}

template <typename T>
void decode_forward(const LayerContext& context, const LayerShape& shape,
                    const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                    const KvCache<T>& cache) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const auto p = room_for_projections<T>(context, shape, batch);
  layer_projections(context, shape, weights, hidden, positions, batch, 1, p);
  layer_attention(context, shape, weights, hidden, p, positions, batch, 1, cache);
  layer_mlp(context, shape, weights, hidden, batch);
}

template <typename T>
void decode_without_cache_forward(const LayerContext& context, const LayerShape& shape,
                                  const LayerWeights<T>& weights, T* hidden, const int* positions,
                                  int batch, int length) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const auto own = room_for_cache<T>(context, shape, batch, length);
  prefill_forward(context, shape, weights, hidden, positions, batch, length, own);
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
