#pragma once

#include <cstdint>

#include "toolkit/cost.h"

// How much work is a decoder layer? Every count is exact and fits into 64 bits.
//
// Conventions, the same for every function here:
//   - A step a * b + c of a matrix multiplication is one MAC and two FLOPs. Everywhere else an
//     addition, multiplication, division, comparison, root, exponential or tanh is one FLOP and no
//     MAC.
//   - Only the query-key pairs that the mask lets through count as work.
//   - `bytes` is the DRAM traffic of one kernel for each operation. A kernel reads each of its
//     inputs once and writes its output once; nothing stays on chip between two kernels.
//   - Weights, activations and the cache have `bytes_per_element` bytes per element. Positions,
//     sines and cosines are so few that they do not count.

/// The sizes of a decoder layer. There are a multiple of key_value_heads query heads, and
/// query_heads * head_dim need not be hidden.
struct DecoderLayer {
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;  ///< of the MLP
  std::int64_t query_heads = 0;
  std::int64_t key_value_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  ///< keys that a query sees, itself among them; 0: a global layer
  std::int64_t bytes_per_element = 2;
};

/// The newest `query_length` tokens of each of `batch` sequences go through the layer. Together
/// with the older ones, a sequence has `key_length` tokens; query_length <= key_length.
struct ForwardPass {
  std::int64_t batch = 1;
  std::int64_t query_length = 0;
  std::int64_t key_length = 0;
};

// --- Given: sizes, and the operations that you have counted before -------------------------------

inline std::int64_t query_width(const DecoderLayer& layer) {
  return layer.query_heads * layer.head_dim;
}
inline std::int64_t key_value_width(const DecoderLayer& layer) {
  return layer.key_value_heads * layer.head_dim;
}
inline std::int64_t new_tokens(const ForwardPass& pass) { return pass.batch * pass.query_length; }

/// A linear layer without bias, as in Part 1: x (tokens, in) times a weight (out, in).
inline rooflab::Cost linear_cost(std::int64_t tokens, std::int64_t in, std::int64_t out,
                                 std::int64_t bytes_per_element) {
  const std::int64_t macs = tokens * in * out;
  const std::int64_t elements = tokens * in + in * out + tokens * out;
  return {.macs = macs, .flops = 2 * macs, .bytes = elements * bytes_per_element};
}

/// RMSNorm of `rows` rows. Each element takes 5 FLOPs: its square, the addition to the sum, the
/// multiplication by the reciprocal root, 1 + weight, and the multiplication by that. Each row
/// takes 3: the division by the width, the addition of epsilon, the reciprocal root.
inline rooflab::Cost rmsnorm_cost(std::int64_t rows, std::int64_t width,
                                  std::int64_t bytes_per_element) {
  return {.flops = rows * (5 * width + 3),
          .bytes = (2 * rows * width + width) * bytes_per_element};  // x, y and the weight
}

/// RoPE of the new tokens' queries and keys, in place. Rotating a pair takes four multiplications
/// and two additions; its angle, sine and cosine do not count.
inline rooflab::Cost rope_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t elements = new_tokens(pass) * (query_width(layer) + key_value_width(layer));
  return {.flops = 6 * (elements / 2), .bytes = 2 * elements * layer.bytes_per_element};
}

/// gelu(gate) * up in one kernel. One gelu is 8 FLOPs: x (1/2 + 1/2 tanh(x (c + d x^2))), with the
/// constants prepared.
inline rooflab::Cost geglu_cost(const DecoderLayer& layer, std::int64_t tokens) {
  const std::int64_t elements = tokens * layer.intermediate;
  return {.flops = (8 + 1) * elements, .bytes = 3 * elements * layer.bytes_per_element};
}

/// The addition of a block's result to the hidden state of the new tokens: two arrays in, one out.
inline rooflab::Cost residual_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t elements = new_tokens(pass) * layer.hidden;
  return {.flops = elements, .bytes = 3 * elements * layer.bytes_per_element};
}

// --- Yours ---------------------------------------------------------------------------------------

/// Pairs of a query and a key that it sees, in all sequences, for one query head. The query at
/// position p sees the keys at positions 0 ... p, of which a local layer keeps the last `window`.
std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass);

/// The four projections: from hidden to queries, keys and values, and from the heads' results back
/// to hidden. Four kernels, no biases.
rooflab::Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// Attention in one kernel. Each pair takes a dot product of head_dim steps in every query head,
/// and as many steps again to add the weighted value. Softmax takes 5 FLOPs for each pair and query
/// head: a comparison, a subtraction, an exponential, an addition and a division. Scaling the
/// scores does not count. Queries, results, and those keys and values that some query sees cross
/// DRAM once: query heads that share a key load it together.
rooflab::Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// The MLP: the GEMMs gate and up, geglu, and the GEMM down.
rooflab::Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// The layer: projections, attention, MLP, RoPE, two residual additions and six norms. Four of the
/// norms are over the hidden state, one over each query head and one over each key head. The kernel
/// that makes the new keys and values writes them into the cache: appending costs nothing more.
rooflab::Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// The layer on a prompt of `length` tokens. Decode without a cache costs the same: all `length`
/// tokens go through the layer again.
rooflab::Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length);

/// The layer on one new token, the length-th of its sequence, with the others in the cache.
rooflab::Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length);

/// Bytes that the layer's cache holds after `length` tokens of each sequence. A local layer needs
/// no more than the last `window` of them.
std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length);
