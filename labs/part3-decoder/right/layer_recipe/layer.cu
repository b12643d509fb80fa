#include "layer.h"

#include <cuda_bf16.h>

#include "attention.h"
#include "geglu.h"
#include "kv_cache.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

namespace {

template <typename T>
void forward(const LayerContext& context, const LayerShape& s, const LayerWeights<T>& w, T* hidden,
             const int* positions, int batch, int length, const KvCache<T>* kept) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const std::int64_t tokens = static_cast<std::int64_t>(batch) * length;
  const int q_width = s.query_heads * s.head_dim, kv_width = s.key_value_heads * s.head_dim;

  const auto room = [&](std::int64_t width) { return context.workspace.take<T>(tokens * width); };
  const auto linear = [&](const T* x, const T* weight, int in, int out) {
    T* y = room(out);
    rooflab::linear(context.cublas, x, weight, y, static_cast<int>(tokens), in, out,
                    context.stream);
    return y;
  };
  const auto norm = [&](const T* x, const T* weight, int heads, int width) {
    T* y = room(static_cast<std::int64_t>(heads) * width);
    rmsnorm(x, weight, y, static_cast<int>(tokens) * heads, width, s.epsilon, context.stream);
    return y;
  };
  const auto turned = [&](T* x, int heads) {
    rope(x, positions, batch, length, heads, s.head_dim, s.rope_theta, context.stream);
    return x;
  };
  const auto residual = [&](const T* block, const T* weight) {
    rooflab::add(hidden, norm(block, weight, 1, s.hidden), tokens * s.hidden, context.stream);
  };

  // Attention.
  const T* x = norm(hidden, w.input_norm, 1, s.hidden);
  T* v = linear(x, w.v_proj, s.hidden, kv_width);
  T* k =
      turned(norm(linear(x, w.k_proj, s.hidden, kv_width), w.k_norm, s.key_value_heads, s.head_dim),
             s.key_value_heads);
  T* q = turned(norm(linear(x, w.q_proj, s.hidden, q_width), w.q_norm, s.query_heads, s.head_dim),
                s.query_heads);
  const auto append = [&](const KvCache<T>& cache) {
    kv_cache_append(k, v, positions, cache.keys, cache.values,
                    {batch, length, s.key_value_heads, s.head_dim, cache.capacity}, context.stream);
    return cache;
  };
  KvCache<T> read{};
  if (kept != nullptr) read = append(*kept);
  // A ring that is shorter than the prompt no longer has what the first queries see.
  if (kept == nullptr || length > kept->capacity)
    read = append({room(kv_width), room(kv_width), length});
  T* attended = room(q_width);
  attention(q, read.keys, read.values, positions, attended,
            {batch, length, s.query_heads, s.key_value_heads, s.head_dim, read.capacity, s.window,
             s.attention_scale},
            context.stream);
  residual(linear(attended, w.o_proj, q_width, s.hidden), w.post_attention_norm);

  // MLP.
  x = norm(hidden, w.pre_feedforward_norm, 1, s.hidden);
  T* up = linear(x, w.up_proj, s.hidden, s.intermediate);
  T* gate = linear(x, w.gate_proj, s.hidden, s.intermediate);
  T* product = room(s.intermediate);
  geglu(gate, up, product, tokens * s.intermediate, context.stream);
  residual(linear(product, w.down_proj, s.intermediate, s.hidden), w.post_feedforward_norm);
}

}  // namespace

template <typename T>
void prefill_forward(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                     int length, const KvCache<T>& cache) {
  forward(context, shape, weights, hidden, positions, batch, length, &cache);
}

template <typename T>
void decode_forward(const LayerContext& context, const LayerShape& shape,
                    const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                    const KvCache<T>& cache) {
  forward(context, shape, weights, hidden, positions, batch, 1, &cache);
}

template <typename T>
void decode_without_cache_forward(const LayerContext& context, const LayerShape& shape,
                                  const LayerWeights<T>& weights, T* hidden, const int* positions,
                                  int batch, int length) {
  forward<T>(context, shape, weights, hidden, positions, batch, length, nullptr);
}

#define FORWARD_FUNCTIONS(T)                                                                       \
  template void prefill_forward(const LayerContext&, const LayerShape&, const LayerWeights<T>&,    \
                                T*, const int*, int, int, const KvCache<T>&);                      \
  template void decode_forward(const LayerContext&, const LayerShape&, const LayerWeights<T>&, T*, \
                               const int*, int, const KvCache<T>&);                                \
  template void decode_without_cache_forward(const LayerContext&, const LayerShape&,               \
                                             const LayerWeights<T>&, T*, const int*, int, int);
FORWARD_FUNCTIONS(float)
FORWARD_FUNCTIONS(__nv_bfloat16)
