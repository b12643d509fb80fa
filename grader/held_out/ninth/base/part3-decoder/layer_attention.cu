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
  const cudaStream_t st = context.stream;
  const int tokens = batch * length, width = shape.query_heads * shape.head_dim;
  const std::int64_t count = std::int64_t(tokens) * shape.hidden;

  kv_cache_append(projected.k, projected.v, positions, cache.keys, cache.values,
                  KvCacheShape{batch, length, shape.key_value_heads, shape.head_dim,
                               cache.capacity},
                  st);
  T* mixed = context.workspace.take<T>(std::int64_t(tokens) * width);
  attention(projected.q, cache.keys, cache.values, positions, mixed,
            AttentionShape{.batch = batch,
                           .query_length = length,
                           .query_heads = shape.query_heads,
                           .key_value_heads = shape.key_value_heads,
                           .head_dim = shape.head_dim,
                           .capacity = cache.capacity,
                           .window = shape.window,
                           .scale = shape.attention_scale},
            st);
  T* projected_back = context.workspace.take<T>(count);
  rooflab::linear(context.cublas, mixed, weights.o_proj, projected_back, tokens, width,
                  shape.hidden, st);
  T* normed = context.workspace.take<T>(count);
  rmsnorm(projected_back, weights.post_attention_norm, normed, tokens, shape.hidden,
          shape.epsilon, st);
  rooflab::add(hidden, normed, count, st);
}

template void layer_attention(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                              float*, const Projections<float>&, const int*, int, int,
                              const KvCache<float>&);
template void layer_attention(const LayerContext&, const LayerShape&,
                              const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*,
                              const Projections<__nv_bfloat16>&, const int*, int, int,
                              const KvCache<__nv_bfloat16>&);
