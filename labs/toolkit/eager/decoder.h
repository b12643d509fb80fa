#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "toolkit/workspace.h"

namespace rooflab::eager {

/// A Gemma 3 decoder layer that attends over the whole text, on `batch` sequences.
struct DecoderShape {
  int batch;
  int hidden;
  int intermediate;
  int query_heads;
  int key_value_heads;
  int head_dim;
  int capacity;  ///< of the cache: the longest text
  float epsilon;
  float attention_scale;
};

/// Weights in device memory. Norms are vectors that already have their 1 added; a projection is
/// (out_features, in_features).
template <typename T>
struct DecoderWeights {
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
  const T* cosines;                // (capacity, head_dim), the angles of RoPE by position
  const T* sines;                  // (capacity, head_dim)
};

/// Static: room for `capacity` tokens, all of it attended to and what is not yet there masked out.
/// So every step does the same, wherever in the text it stands. Slots that no token has reached
/// must hold numbers.
template <typename T>
struct DecoderCache {
  T* keys;    // (batch, key_value_heads, capacity, head_dim)
  T* values;  // (batch, key_value_heads, capacity, head_dim)
};

/// One token of each sequence through the layer, out of eager operations: some seventy kernels. The
/// step reads its token and its position from device memory that never moves, and what it launches
/// does not depend on what they hold. T is float or __half.
template <typename T>
class DecodeStep {
 public:
  /// Takes its three buffers from the workspace, for as long as that lasts, and fills them with
  /// zeros; a launch takes room for its intermediate results, and gives it back.
  /// @throws CudaError
  /// @throws std::length_error when the workspace is too small
  DecodeStep(cublasHandle_t cublas, const DecoderShape& shape, const DecoderWeights<T>& weights,
             const DecoderCache<T>& cache, Workspace& workspace);

  std::int64_t elements() const { return std::int64_t{shape_.batch} * shape_.hidden; }
  T* input() { return input_; }          // (batch, hidden), read by each launch
  int* position() { return position_; }  // one number, 0 ... capacity - 1, read by each launch
  const T* output() const { return output_; }  // (batch, hidden), written by each launch

  /// Launches the step on `stream` and does not wait: the token joins the cache at its position,
  /// attends over all tokens up to it, and goes through the MLP.
  /// @throws CudaError
  void launch(cudaStream_t stream);

 private:
  class Launch;

  cublasHandle_t cublas_;
  DecoderShape shape_;
  DecoderWeights<T> weights_;
  DecoderCache<T> cache_;
  Workspace& workspace_;
  T* input_;
  int* position_;
  T* output_;
};

}  // namespace rooflab::eager
