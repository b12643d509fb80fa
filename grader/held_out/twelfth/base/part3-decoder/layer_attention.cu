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
  const rooflab::Workspace::Scope scope(context.workspace);
  const int tokens = batch * length;
  const int width = shape.query_heads * shape.head_dim;
  const std::size_t elements = static_cast<std::size_t>(tokens) * shape.hidden;

  KvCacheShape slots;
  slots.batch = batch;
  slots.length = length;
  slots.heads = shape.key_value_heads;
  slots.head_dim = shape.head_dim;
  slots.capacity = cache.capacity;
  kv_cache_append(projected.k, projected.v, positions, cache.keys, cache.values, slots,
                  context.stream);

  AttentionShape seen;
  seen.batch = batch;
  seen.query_length = length;
  seen.query_heads = shape.query_heads;
  seen.key_value_heads = shape.key_value_heads;
  seen.head_dim = shape.head_dim;
  seen.capacity = cache.capacity;
  seen.window = shape.window;
  seen.scale = shape.attention_scale;
  T* attended = context.workspace.take<T>(static_cast<std::size_t>(tokens) * width);
  attention(projected.q, cache.keys, cache.values, positions, attended, seen, context.stream);

  T* back = context.workspace.take<T>(elements);
  rooflab::linear(context.cublas, attended, weights.o_proj, back, tokens, width, shape.hidden,
                  context.stream);
  T* normed = context.workspace.take<T>(elements);
  rmsnorm(back, weights.post_attention_norm, normed, tokens, shape.hidden, shape.epsilon,
          context.stream);
  rooflab::add(hidden, normed, elements, context.stream);
}

template void layer_attention(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                              float*, const Projections<float>&, const int*, int, int,
                              const KvCache<float>&);
template void layer_attention(const LayerContext&, const LayerShape&,
                              const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*,
                              const Projections<__nv_bfloat16>&, const int*, int, int,
                              const KvCache<__nv_bfloat16>&);
