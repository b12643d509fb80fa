#include <cuda_bf16.h>

#include "attention.h"
#include "kv_cache.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_attention(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const Projections<T>& projected,
                     const int* positions, int batch, int length, const KvCache<T>& cache) {
  rooflab::Workspace::Scope give_back(context.workspace);
  const int tokens = batch * length;
  const int width = shape.query_heads * shape.head_dim;
  KvCacheShape slots{};
  slots.batch = batch;
  slots.length = length;
  slots.heads = shape.key_value_heads;
  slots.head_dim = shape.head_dim;
  slots.capacity = cache.capacity;
  kv_cache_append<T>(projected.k, projected.v, positions, cache.keys, cache.values, slots,
                     context.stream);

  AttentionShape a{};
  a.batch = batch;
  a.query_length = length;
  a.query_heads = shape.query_heads;
  a.key_value_heads = shape.key_value_heads;
  a.head_dim = shape.head_dim;
  a.capacity = cache.capacity;
  a.window = shape.window;
  a.scale = shape.attention_scale;
  T* mixed = context.workspace.template take<T>(static_cast<size_t>(tokens) * width);
  attention<T>(projected.q, cache.keys, cache.values, positions, mixed, a, context.stream);

  T* back = context.workspace.template take<T>(static_cast<size_t>(tokens) * shape.hidden);
  T* normed = context.workspace.template take<T>(static_cast<size_t>(tokens) * shape.hidden);
  rooflab::linear<T>(context.cublas, mixed, weights.o_proj, back, tokens, width, shape.hidden,
                     context.stream);
  rmsnorm<T>(back, weights.post_attention_norm, normed, tokens, shape.hidden, shape.epsilon,
             context.stream);
  rooflab::add<T>(hidden, normed, static_cast<std::int64_t>(tokens) * shape.hidden, context.stream);
}

template void layer_attention(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                              float*, const Projections<float>&, const int*, int, int,
                              const KvCache<float>&);
template void layer_attention(const LayerContext&, const LayerShape&,
                              const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*,
                              const Projections<__nv_bfloat16>&, const int*, int, int,
                              const KvCache<__nv_bfloat16>&);
