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
  rooflab::Workspace::Scope scope(context.workspace);
  const int tokens = batch * length;
  const int attended_width = shape.query_heads * shape.head_dim;
  T* attended = context.workspace.take<T>(static_cast<std::size_t>(tokens) * attended_width);
  T* back = context.workspace.take<T>(static_cast<std::size_t>(tokens) * shape.hidden);
  T* normed = context.workspace.take<T>(static_cast<std::size_t>(tokens) * shape.hidden);

  KvCacheShape slots;
  slots.batch = batch;
  slots.length = length;
  slots.heads = shape.key_value_heads;
  slots.head_dim = shape.head_dim;
  slots.capacity = cache.capacity;
  kv_cache_append(projected.k, projected.v, positions, cache.keys, cache.values, slots,
                  context.stream);

  AttentionShape sizes;
  sizes.batch = batch;
  sizes.query_length = length;
  sizes.query_heads = shape.query_heads;
  sizes.key_value_heads = shape.key_value_heads;
  sizes.head_dim = shape.head_dim;
  sizes.capacity = cache.capacity;
  sizes.window = shape.window;
  sizes.scale = shape.attention_scale;
  attention(projected.q, cache.keys, cache.values, positions, attended, sizes, context.stream);

  rooflab::linear(context.cublas, attended, weights.o_proj, back, tokens, attended_width,
                  shape.hidden, context.stream);
  rmsnorm(back, weights.post_attention_norm, normed, tokens, shape.hidden, shape.epsilon,
          context.stream);
  rooflab::add(hidden, normed, static_cast<std::int64_t>(tokens) * shape.hidden, context.stream);
}

template void layer_attention(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                              float*, const Projections<float>&, const int*, int, int,
                              const KvCache<float>&);
template void layer_attention(const LayerContext&, const LayerShape&,
                              const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*,
                              const Projections<__nv_bfloat16>&, const int*, int, int,
                              const KvCache<__nv_bfloat16>&);
