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
  const cudaStream_t stream = context.stream;
  const int tokens = batch * length;
  const int wide = shape.query_heads * shape.head_dim;

  KvCacheShape room{};
  room.batch = batch;
  room.length = length;
  room.heads = shape.key_value_heads;
  room.head_dim = shape.head_dim;
  room.capacity = cache.capacity;
  kv_cache_append(projected.k, projected.v, positions, cache.keys, cache.values, room, stream);

  AttentionShape look{};
  look.batch = batch;
  look.query_length = length;
  look.query_heads = shape.query_heads;
  look.key_value_heads = shape.key_value_heads;
  look.head_dim = shape.head_dim;
  look.capacity = cache.capacity;
  look.window = shape.window;
  look.scale = shape.attention_scale;
  T* attended = context.workspace.take<T>(static_cast<size_t>(tokens) * wide);
  attention(projected.q, cache.keys, cache.values, positions, attended, look, stream);

  T* result = context.workspace.take<T>(static_cast<size_t>(tokens) * shape.hidden);
  rooflab::linear(context.cublas, attended, weights.o_proj, result, tokens, wide, shape.hidden,
                  stream);
  T* normed = context.workspace.take<T>(static_cast<size_t>(tokens) * shape.hidden);
  rmsnorm(result, weights.post_attention_norm, normed, tokens, shape.hidden, shape.epsilon, stream);
  rooflab::add(hidden, normed, static_cast<std::int64_t>(tokens) * shape.hidden, stream);
}

template void layer_attention(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                              float*, const Projections<float>&, const int*, int, int,
                              const KvCache<float>&);
template void layer_attention(const LayerContext&, const LayerShape&,
                              const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*,
                              const Projections<__nv_bfloat16>&, const int*, int, int,
                              const KvCache<__nv_bfloat16>&);
