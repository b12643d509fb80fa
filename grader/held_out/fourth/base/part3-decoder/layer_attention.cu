#include <cuda_bf16.h>

#include "attention.h"
#include "kv_cache.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

namespace {

KvCacheShape cache_shape(const LayerShape& layer, int batch, int length, int capacity) {
  KvCacheShape shape{};
  shape.batch = batch;
  shape.length = length;
  shape.heads = layer.key_value_heads;
  shape.head_dim = layer.head_dim;
  shape.capacity = capacity;
  return shape;
}

AttentionShape attention_shape(const LayerShape& layer, int batch, int length, int capacity) {
  AttentionShape shape{};
  shape.batch = batch;
  shape.query_length = length;
  shape.query_heads = layer.query_heads;
  shape.key_value_heads = layer.key_value_heads;
  shape.head_dim = layer.head_dim;
  shape.capacity = capacity;
  shape.window = layer.window;
  shape.scale = layer.attention_scale;
  return shape;
}

}  // namespace

template <typename T>
void layer_attention(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const Projections<T>& projected,
                     const int* positions, int batch, int length, const KvCache<T>& cache) {
  const int tokens = batch * length;
  const int width = shape.query_heads * shape.head_dim;
  const rooflab::Workspace::Scope scope(context.workspace);
  T* attended = context.workspace.take<T>(static_cast<std::size_t>(tokens) * width);
  T* back = context.workspace.take<T>(static_cast<std::size_t>(tokens) * shape.hidden);
  T* normed = context.workspace.take<T>(static_cast<std::size_t>(tokens) * shape.hidden);

  kv_cache_append(projected.k, projected.v, positions, cache.keys, cache.values,
                  cache_shape(shape, batch, length, cache.capacity), context.stream);
  attention(projected.q, cache.keys, cache.values, positions, attended,
            attention_shape(shape, batch, length, cache.capacity), context.stream);
  rooflab::linear(context.cublas, attended, weights.o_proj, back, tokens, width, shape.hidden,
                  context.stream);
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
