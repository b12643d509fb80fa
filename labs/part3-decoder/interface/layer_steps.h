#pragma once

#include "layer.h"

/// A decoder layer in three steps, from which layer.h then builds prefill and decode. T is float or
/// __nv_bfloat16. Everything runs on context.stream, and what lies between two operations comes
/// from context.workspace: a Workspace::Scope gives it back at the end. `tokens` below is batch *
/// length.

/// What attention needs of the new tokens.
template <typename T>
struct Projections {
  T* q;  ///< (batch, length, query_heads, head_dim), normed and rotated
  T* k;  ///< (batch, length, key_value_heads, head_dim), normed and rotated
  T* v;  ///< (batch, length, key_value_heads, head_dim), as projected
};

/// Step 1. From the hidden state to queries, keys and values:
///
///   x = input_norm(hidden)
///   q = rope(q_norm(q_proj(x)))      k = rope(k_norm(k_proj(x)))      v = v_proj(x)
///
/// q_norm and k_norm are over the head_dim elements of each head. The arrays of `out` have room for
/// the results and hold garbage before.
///
///   hidden: (tokens, hidden)   positions: (length), in device memory
template <typename T>
void layer_projections(const LayerContext& context, const LayerShape& shape,
                       const LayerWeights<T>& weights, const T* hidden, const int* positions,
                       int batch, int length, const Projections<T>& out);

/// Step 2. Attention, and its result added to the hidden state:
///
///   the keys and values of `projected` go into the cache
///   hidden += post_attention_norm(o_proj(attention(q, cache)))
///
/// The cache has room for every key that a query sees: length <= capacity, or length is 1.
///
///   hidden: (tokens, hidden)   positions: (length), consecutive, in device memory
template <typename T>
void layer_attention(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const Projections<T>& projected,
                     const int* positions, int batch, int length, const KvCache<T>& cache);

/// Step 3. The MLP, and its result added to the hidden state:
///
///   x = pre_feedforward_norm(hidden)
///   hidden += post_feedforward_norm(down_proj(gelu(gate_proj(x)) * up_proj(x)))
///
///   hidden: (tokens, hidden)
template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
               T* hidden, int tokens);
