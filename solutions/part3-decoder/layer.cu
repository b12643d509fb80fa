#include "layer.h"

#include <cuda_bf16.h>

#include "kv_cache.h"
#include "layer_steps.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your helpers go here: what prefill and decode have in common.
namespace {

// Room in the workspace for `width` elements of each token.
template <typename T>
T* take(const LayerContext& context, int tokens, int width) {
  return context.workspace.take<T>(static_cast<size_t>(tokens) * width);
}

// A cache in the workspace that holds the new tokens, and lasts as long as this call.
template <typename T>
KvCache<T> take_cache(const LayerContext& context, const LayerShape& shape, int batch, int length) {
  const int kv_width = shape.key_value_heads * shape.head_dim;
  return {take<T>(context, batch * length, kv_width), take<T>(context, batch * length, kv_width),
          length};
}

// The three steps, one after the other, on keys and values in `cache`. A ring that is too short for
// that, `kept`, gets the last of them besides.
template <typename T>
void forward(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
             T* hidden, const int* positions, int batch, int length, const KvCache<T>& cache,
             const KvCache<T>* kept = nullptr) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const int tokens = batch * length;
  const int kv_width = shape.key_value_heads * shape.head_dim;
  const Projections<T> projected = {take<T>(context, tokens, shape.query_heads * shape.head_dim),
                                    take<T>(context, tokens, kv_width),
                                    take<T>(context, tokens, kv_width)};
  layer_projections(context, shape, weights, hidden, positions, batch, length, projected);
  if (kept != nullptr) {
    kv_cache_append(projected.k, projected.v, positions, kept->keys, kept->values,
                    {batch, length, shape.key_value_heads, shape.head_dim, kept->capacity},
                    context.stream);
  }
  layer_attention(context, shape, weights, hidden, projected, positions, batch, length, cache);
  layer_mlp(context, shape, weights, hidden, tokens);
}

}  // namespace
// END SOLUTION

template <typename T>
void prefill_forward(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                     int length, const KvCache<T>& cache) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("the three steps; which keys does a prompt need that is longer than the ring?");
  if (length <= cache.capacity) {
    return forward(context, shape, weights, hidden, positions, batch, length, cache);
  }
  // The ring keeps the last tokens alone, and the first queries need earlier ones: the prompt
  // attends over a cache that holds all of it.
  const rooflab::Workspace::Scope scope(context.workspace);
  const KvCache<T> whole = take_cache<T>(context, shape, batch, length);
  forward(context, shape, weights, hidden, positions, batch, length, whole, &cache);
  // END SOLUTION
}

template <typename T>
void decode_forward(const LayerContext& context, const LayerShape& shape,
                    const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                    const KvCache<T>& cache) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("the three steps for one token: which keys does it see, and where do they lie?");
  forward(context, shape, weights, hidden, positions, batch, 1, cache);
  // END SOLUTION
}

template <typename T>
void decode_without_cache_forward(const LayerContext& context, const LayerShape& shape,
                                  const LayerWeights<T>& weights, T* hidden, const int* positions,
                                  int batch, int length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("the three steps, with a cache in the workspace");
  const rooflab::Workspace::Scope scope(context.workspace);
  const KvCache<T> whole = take_cache<T>(context, shape, batch, length);
  forward(context, shape, weights, hidden, positions, batch, length, whole);
  // END SOLUTION
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
