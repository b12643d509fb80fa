#pragma once

/// Sizes of an attention problem, and which keys its queries see. Every function of this part that
/// takes one computes, for every query i of every query head,
///
///   out_i = sum_j p_ij v_j,   p_ij = exp(s_ij) / sum_j exp(s_ij),   s_ij = scale * q_i . k_j
///
/// with sums over the keys j that query i sees. The arrays are always these, dense, row-major and
/// in device memory, at pointers that are aligned to 256 bytes:
///
///   q, out:       (batch, query_heads, query_length, head_dim)
///   k, v:         (batch, key_value_heads, key_length, head_dim)
///   log_sum_exp:  (batch, query_heads, query_length)   log(sum_j exp(s_ij)), natural
///
/// A query may see no key at all. Its row of out is then 0, and its log_sum_exp minus infinity.
///
/// Elements are stored as float, __half or __nv_bfloat16; scores, softmax and all sums are fp32.
/// The softmax weights may be rounded to the storage type before they meet the values, as tensor
/// cores need it. Scores may be as large as 10,000 on either side of 0: subtract the row's largest
/// score before you take an exponential, and give a masked key a score that is less than any of
/// these. Outputs hold garbage before the call: write every element, and read none. Do not change
/// the inputs.
///
/// Lengths are arbitrary: a query may see more keys than a block has registers or shared memory for
/// scores. batch and query_heads are at most 65,535 each, and their product may be more than a grid
/// has blocks along y. k and v may have more elements than an int counts; q and out have fewer.
struct AttentionShape {
  int batch;            ///< sequences
  int query_heads;      ///< a multiple of key_value_heads
  int key_value_heads;  ///< query head h reads key/value head h / (query_heads / key_value_heads)
  int query_length;     ///< at least 1, like all lengths; not a multiple of anything
  int key_length;       ///< may be more than query_length, or less
  int head_dim;
  bool causal;  ///< the queries are the newest tokens: query i sees the keys j with
                ///< j <= i + key_length - query_length; otherwise all keys
  int window;   ///< 0: no limit; else, and only with `causal`, a query sees only the last `window`
                ///< of these keys, its own among them
  float scale;  ///< of the dot products: any positive number, not only 1 / sqrt(head_dim)
};
