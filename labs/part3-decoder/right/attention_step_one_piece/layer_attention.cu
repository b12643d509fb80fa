#include <cuda_bf16.h>

#include <algorithm>

#include "attention.h"
#include "kv_cache.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_attention(const LayerContext& context, const LayerShape& s, const LayerWeights<T>& w,
                     T* hidden, const Projections<T>& projected, const int* positions, int batch,
                     int length, const KvCache<T>& cache) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const int tokens = batch * length;
  const int q_width = s.query_heads * s.head_dim;
  const std::size_t half = static_cast<std::size_t>(tokens) * std::max(q_width, s.hidden) + 128;
  T* first = context.workspace.take<T>(2 * (half / 128) * 128);
  T* second = first + half / 128 * 128;  // at a multiple of 256 bytes

  const KvCacheShape to{batch, length, s.key_value_heads, s.head_dim, cache.capacity};
  const AttentionShape over{batch,      length,         s.query_heads, s.key_value_heads,
                            s.head_dim, cache.capacity, s.window,      s.attention_scale};
  kv_cache_append(projected.k, projected.v, positions, cache.keys, cache.values, to,
                  context.stream);
  attention(projected.q, cache.keys, cache.values, positions, first, over, context.stream);
  rooflab::linear(context.cublas, first, w.o_proj, second, tokens, q_width, s.hidden,
                  context.stream);
  rmsnorm(second, w.post_attention_norm, first, tokens, s.hidden, s.epsilon, context.stream);
  rooflab::add(hidden, first, static_cast<std::int64_t>(tokens) * s.hidden, context.stream);
}

template void layer_attention(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                              float*, const Projections<float>&, const int*, int, int,
                              const KvCache<float>&);
template void layer_attention(const LayerContext&, const LayerShape&,
                              const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*,
                              const Projections<__nv_bfloat16>&, const int*, int, int,
                              const KvCache<__nv_bfloat16>&);
