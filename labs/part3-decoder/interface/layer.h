#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "toolkit/workspace.h"

/// The sizes of a decoder layer. Gemma 3 270M: hidden 640, intermediate 2048, 4 query heads and 1
/// key/value head of 256, window 512 and theta 10,000 in local layers, window 0 and theta 1,000,000
/// in global ones, epsilon 1e-6, scale 1/16. Other models have other numbers, and so have the
/// grader's cases: epsilon may be as large as 0.01, scale is any positive number.
struct LayerShape {
  int hidden;
  int intermediate;
  int query_heads;
  int key_value_heads;
  int head_dim;
  int window;  ///< 0: a global layer
  float rope_theta;
  float epsilon;
  float attention_scale;
};

/// Weights in device memory. Norms are vectors; a projection is (out_features, in_features).
template <typename T>
struct LayerWeights {
  const T* input_norm;             // (hidden)
  const T* q_proj;                 // (query_heads * head_dim, hidden)
  const T* k_proj;                 // (key_value_heads * head_dim, hidden)
  const T* v_proj;                 // (key_value_heads * head_dim, hidden)
  const T* o_proj;                 // (hidden, query_heads * head_dim)
  const T* q_norm;                 // (head_dim), of each head of q
  const T* k_norm;                 // (head_dim), of each head of k
  const T* post_attention_norm;    // (hidden)
  const T* pre_feedforward_norm;   // (hidden)
  const T* gate_proj;              // (intermediate, hidden)
  const T* up_proj;                // (intermediate, hidden)
  const T* down_proj;              // (hidden, intermediate)
  const T* post_feedforward_norm;  // (hidden)
};

/// The layer's cache: keys are stored normed and rotated.
template <typename T>
struct KvCache {
  T* keys;       // (batch, key_value_heads, capacity, head_dim)
  T* values;     // (batch, key_value_heads, capacity, head_dim)
  int capacity;  ///< the longest text in a global layer, at least the window in a local one
};

/// What every call works with.
struct LayerContext {
  cublasHandle_t cublas;          ///< set to `stream`
  cudaStream_t stream;            ///< everything runs here
  rooflab::Workspace& workspace;  ///< device memory for what lies between two operations
};

/// One decoder layer, in place:
///
///   hidden += post_attention_norm(attention(input_norm(hidden)))
///   hidden += post_feedforward_norm(mlp(pre_feedforward_norm(hidden)))
///
/// Attention projects to q, k and v, norms q and k head by head, rotates both by their positions (v
/// is neither normed nor rotated), and projects its result back. mlp(x) = down(gelu(gate(x)) *
/// up(x)). T is float or __nv_bfloat16. Your three functions of layer_steps.h do most of the work.
/// No array has 2^31 elements or more. When a function returns, the workspace has as much room as
/// before (Workspace::Scope), and the handle has its stream and its modes.

/// The prompt of `length` tokens: fills the cache, which holds nothing before.
///
///   hidden: (batch, length, hidden)   positions: (length), 0 ... length - 1, in device memory
///
/// A prompt may be longer than a local layer's cache: its tokens then attend over all keys of the
/// prompt, of which the cache keeps the last.
template <typename T>
void prefill_forward(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                     int length, const KvCache<T>& cache);

/// One more token of each sequence, which attends over the cache and joins it.
///
///   hidden: (batch, 1, hidden)   positions: (1), in device memory
template <typename T>
void decode_forward(const LayerContext& context, const LayerShape& shape,
                    const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                    const KvCache<T>& cache);

/// One more token of each sequence without a cache: the layer is computed anew for the whole text.
/// Every row of hidden becomes the layer's output, since the next layer needs them all; the last
/// row belongs to the new token.
///
///   hidden: (batch, length, hidden)   positions: (length), 0 ... length - 1, in device memory
template <typename T>
void decode_without_cache_forward(const LayerContext& context, const LayerShape& shape,
                                  const LayerWeights<T>& weights, T* hidden, const int* positions,
                                  int batch, int length);
