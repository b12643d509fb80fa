#include "layer.h"

#include <cuda_bf16.h>

#include "attention.h"
#include "geglu.h"
#include "kv_cache.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your helpers go here: what prefill and decode have in common.
namespace {

// The layer at work on `batch` sequences of `length` new tokens each.
template <typename T>
class Layer {
 public:
  Layer(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
        const int* positions, int batch, int length)
      : context_(context),
        shape_(shape),
        weights_(weights),
        positions_(positions),
        batch_(batch),
        length_(length),
        tokens_(batch * length) {}

  // Queries, keys and values of the new tokens; queries and keys are normed and turned.
  struct Projections {
    T* q;  // (batch, length, query_heads, head_dim)
    T* k;  // (batch, length, key_value_heads, head_dim)
    T* v;  // (batch, length, key_value_heads, head_dim)
  };

  Projections project(const T* hidden) {
    const T* normed = norm(hidden, weights_.input_norm, tokens_, shape_.hidden);
    const int q_width = shape_.query_heads * shape_.head_dim;
    const int kv_width = shape_.key_value_heads * shape_.head_dim;
    T* q = linear(normed, weights_.q_proj, shape_.hidden, q_width);
    T* k = linear(normed, weights_.k_proj, shape_.hidden, kv_width);
    T* v = linear(normed, weights_.v_proj, shape_.hidden, kv_width);
    q = norm(q, weights_.q_norm, tokens_ * shape_.query_heads, shape_.head_dim);
    k = norm(k, weights_.k_norm, tokens_ * shape_.key_value_heads, shape_.head_dim);
    turn(q, shape_.query_heads);
    turn(k, shape_.key_value_heads);
    return {q, k, v};
  }

  // A cache for the new tokens alone, which lasts as long as this call.
  KvCache<T> scratch_cache() {
    const int width = shape_.key_value_heads * shape_.head_dim;
    return {take(width), take(width), length_};
  }

  void append(const Projections& p, const KvCache<T>& cache) {
    kv_cache_append(p.k, p.v, positions_, cache.keys, cache.values,
                    {batch_, length_, shape_.key_value_heads, shape_.head_dim, cache.capacity},
                    context_.stream);
  }

  // Attention over the cache, and all of the layer that follows.
  void finish(T* hidden, const Projections& p, const KvCache<T>& cache) {
    T* attended = take(shape_.query_heads * shape_.head_dim);
    attention(p.q, cache.keys, cache.values, positions_, attended,
              {batch_, length_, shape_.query_heads, shape_.key_value_heads, shape_.head_dim,
               cache.capacity, shape_.window, shape_.attention_scale},
              context_.stream);
    T* projected =
        linear(attended, weights_.o_proj, shape_.query_heads * shape_.head_dim, shape_.hidden);
    add(hidden, norm(projected, weights_.post_attention_norm, tokens_, shape_.hidden));
    feed_forward(hidden);
  }

 private:
  void feed_forward(T* hidden) {
    const T* normed = norm(hidden, weights_.pre_feedforward_norm, tokens_, shape_.hidden);
    T* gate = linear(normed, weights_.gate_proj, shape_.hidden, shape_.intermediate);
    T* up = linear(normed, weights_.up_proj, shape_.hidden, shape_.intermediate);
    T* gated = take(shape_.intermediate);
    geglu(gate, up, gated, static_cast<std::int64_t>(tokens_) * shape_.intermediate,
          context_.stream);
    T* down = linear(gated, weights_.down_proj, shape_.intermediate, shape_.hidden);
    add(hidden, norm(down, weights_.post_feedforward_norm, tokens_, shape_.hidden));
  }

  // Room for `width` elements of every token.
  T* take(int width) {
    return context_.workspace.take<T>(static_cast<std::size_t>(tokens_) * width);
  }
  T* linear(const T* x, const T* weight, int in_features, int out_features) {
    T* y = take(out_features);
    rooflab::linear(context_.cublas, x, weight, y, tokens_, in_features, out_features,
                    context_.stream);
    return y;
  }
  T* norm(const T* x, const T* weight, int rows, int width) {
    T* y = context_.workspace.take<T>(static_cast<std::size_t>(rows) * width);
    rmsnorm(x, weight, y, rows, width, shape_.epsilon, context_.stream);
    return y;
  }
  void turn(T* x, int heads) {
    rope(x, positions_, batch_, length_, heads, shape_.head_dim, shape_.rope_theta,
         context_.stream);
  }
  void add(T* hidden, const T* y) {
    rooflab::add(hidden, y, static_cast<std::int64_t>(tokens_) * shape_.hidden, context_.stream);
  }

  const LayerContext& context_;
  const LayerShape& shape_;
  const LayerWeights<T>& weights_;
  const int* positions_;
  int batch_;
  int length_;
  int tokens_;
};

}  // namespace
// END SOLUTION

template <typename T>
void prefill_forward(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                     int length, const KvCache<T>& cache) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("norm, project, norm and turn q and k, fill the cache, attend; then the MLP");
  const rooflab::Workspace::Scope scope(context.workspace);
  Layer<T> layer(context, shape, weights, positions, batch, length);
  const auto projections = layer.project(hidden);
  layer.append(projections, cache);
  if (length <= cache.capacity) {
    layer.finish(hidden, projections, cache);
  } else {  // the ring no longer has the keys that the first queries see
    const KvCache<T> whole = layer.scratch_cache();
    layer.append(projections, whole);
    layer.finish(hidden, projections, whole);
  }
  // END SOLUTION
}

template <typename T>
void decode_forward(const LayerContext& context, const LayerShape& shape,
                    const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                    const KvCache<T>& cache) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("as prefill, with one token: which keys does it see, and where do they lie?");
  const rooflab::Workspace::Scope scope(context.workspace);
  Layer<T> layer(context, shape, weights, positions, batch, 1);
  const auto projections = layer.project(hidden);
  layer.append(projections, cache);  // the token sees itself, too
  layer.finish(hidden, projections, cache);
  // END SOLUTION
}

template <typename T>
void decode_without_cache_forward(const LayerContext& context, const LayerShape& shape,
                                  const LayerWeights<T>& weights, T* hidden, const int* positions,
                                  int batch, int length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("as prefill, with keys and values in the workspace");
  const rooflab::Workspace::Scope scope(context.workspace);
  Layer<T> layer(context, shape, weights, positions, batch, length);
  const auto projections = layer.project(hidden);
  const KvCache<T> whole = layer.scratch_cache();
  layer.append(projections, whole);
  layer.finish(hidden, projections, whole);
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
