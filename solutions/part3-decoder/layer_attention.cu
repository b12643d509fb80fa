#include <cuda_bf16.h>

#include "attention.h"
#include "kv_cache.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"
#include "toolkit/todo.h"

template <typename T>
void layer_attention(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const Projections<T>& projected,
                     const int* positions, int batch, int length, const KvCache<T>& cache) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("append k and v to the cache, attend, project; then norm, and add to hidden");
  rooflab::Workspace& workspace = context.workspace;
  const rooflab::Workspace::Scope scope(workspace);
  const cudaStream_t stream = context.stream;
  const int tokens = batch * length;
  const int q_width = shape.query_heads * shape.head_dim;
  const auto hidden_size = static_cast<std::int64_t>(tokens) * shape.hidden;
  T* attended = workspace.take<T>(static_cast<size_t>(tokens) * q_width);
  T* result = workspace.take<T>(hidden_size);
  T* normed = workspace.take<T>(hidden_size);

  // The cache first: a new token sees itself, too.
  kv_cache_append(projected.k, projected.v, positions, cache.keys, cache.values,
                  {batch, length, shape.key_value_heads, shape.head_dim, cache.capacity}, stream);
  attention(projected.q, cache.keys, cache.values, positions, attended,
            {batch, length, shape.query_heads, shape.key_value_heads, shape.head_dim,
             cache.capacity, shape.window, shape.attention_scale},
            stream);

  rooflab::linear(context.cublas, attended, weights.o_proj, result, tokens, q_width, shape.hidden,
                  stream);
  rmsnorm(result, weights.post_attention_norm, normed, tokens, shape.hidden, shape.epsilon, stream);
  rooflab::add(hidden, normed, hidden_size, stream);
  // END SOLUTION
}

template void layer_attention(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                              float*, const Projections<float>&, const int*, int, int,
                              const KvCache<float>&);
template void layer_attention(const LayerContext&, const LayerShape&,
                              const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*,
                              const Projections<__nv_bfloat16>&, const int*, int, int,
                              const KvCache<__nv_bfloat16>&);
