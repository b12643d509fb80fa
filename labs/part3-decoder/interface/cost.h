#pragma once

#include <cstdint>

#include "toolkit/cost.h"

// How much work is a decoder layer? Every count is exact and fits into 64 bits.
//
// Conventions, the same for every function here:
//   - A step a * b + c of a matrix product is one MAC and two FLOPs. Outside of products an
//     addition, multiplication, division, comparison, root, exponential or tanh is one FLOP each,
//     and no MAC.
//   - Work is counted for the query-key pairs that the mask lets through, and for no others.
//   - `bytes` is the traffic with DRAM of one kernel for each operation: each kernel reads each of
//     its inputs once and writes its output once. Nothing stays on chip from one to the next.
//   - Weights, activations, scores and cache all have `bytes_per_element` bytes per element.
//     Positions and the tables of sines and cosines are so few that they do not count.
//   - `fused` says that kernels are joined where this part joins them: scores, softmax and weighted
//     sum are one kernel, and so are gelu and the product that follows. Joining changes the bytes,
//     not the FLOPs.

/// The sizes of a decoder layer. Query heads are a multiple of key/value heads; query_heads *
/// head_dim need not be hidden.
struct DecoderLayer {
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;  ///< of the MLP
  std::int64_t query_heads = 0;
  std::int64_t key_value_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  ///< keys that a query sees, itself among them; 0: a global layer
  std::int64_t bytes_per_element = 2;
};

/// The newest `query_length` tokens of each of `batch` sequences go through the layer. With them a
/// sequence has `key_length` tokens; query_length <= key_length.
struct ForwardPass {
  std::int64_t batch = 1;
  std::int64_t query_length = 0;
  std::int64_t key_length = 0;
};

/// Pairs of a query and a key that it sees, in all sequences, for one query head. The query at
/// position p sees the keys at positions 0 ... p, of which a local layer keeps the last `window`.
std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass);

/// The four projections, from hidden to queries, keys and values and from the heads' results back:
/// four kernels, no biases.
rooflab::Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// RMSNorm of `rows` rows. Of each element: the square, its addition to the sum, the product with
/// the reciprocal root, 1 + weight, and the product with that. Of each row: the division by the
/// width, the addition of epsilon, the reciprocal root.
rooflab::Cost rmsnorm_cost(std::int64_t rows, std::int64_t width, std::int64_t bytes_per_element);

/// RoPE of the new tokens' queries and keys, in place. A turned pair takes four products and two
/// additions; its angle, sine and cosine are not counted.
rooflab::Cost rope_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// The scores q . k. They go to memory as a rectangle, query_length x (keys that some query sees),
/// of each query head, with the masked ones among them. Each key is read once for its group of
/// query heads. Scaling is part of the product, and not counted.
rooflab::Cost scores_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// Softmax of that rectangle, in three sweeps: read for the maximum; read, write the exponential
/// and add it up; read and write the quotient. A score that the mask lets through takes a
/// comparison, a subtraction, an exponential, an addition and a division.
rooflab::Cost softmax_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// The sum of the values, weighted by that rectangle.
rooflab::Cost weighted_sum_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// Scores, softmax and weighted sum together. When `fused`, only queries, keys, values and results
/// cross DRAM.
rooflab::Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass, bool fused);

/// gelu(gate) * up for `tokens` tokens. One gelu is 8 FLOPs: x (1/2 + 1/2 tanh(x (c + d x^2))) with
/// the constants made ready. Not `fused`, gelu(gate) is a kernel of its own.
rooflab::Cost geglu_cost(const DecoderLayer& layer, std::int64_t tokens, bool fused);

/// The MLP: the products gate and up, geglu, and the product down.
rooflab::Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass, bool fused);

/// The addition of a block's result to the hidden state of the new tokens.
rooflab::Cost residual_cost(const DecoderLayer& layer, const ForwardPass& pass);

/// The layer: projections, attention, MLP, RoPE, two residual additions and six norms, four of them
/// over the hidden state, one over each query head and one over each key head. Whichever kernel
/// writes the new keys and values writes them into the cache: appending costs nothing more.
rooflab::Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass, bool fused);

/// The layer (`fused`) on a prompt of `length` tokens.
rooflab::Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length);
/// The layer (`fused`) on one new token, the length-th of its sequence, when the cache holds the
/// others.
rooflab::Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length);
/// The same without a cache: keys and values of all `length` tokens, and with them the whole layer,
/// are computed anew.
rooflab::Cost decode_without_cache_cost(const DecoderLayer& layer, std::int64_t batch,
                                        std::int64_t length);

/// Bytes that the layer's cache holds after `length` tokens of each sequence. A local layer needs
/// no more than the last `window` of them.
std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length);
