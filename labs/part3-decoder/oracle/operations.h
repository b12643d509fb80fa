#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "labs/oracle_support/gelu.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/rmsnorm.h"
#include "labs/oracle_support/rounding.h"

/// The operations of a Gemma-3 decoder layer in fp64, as plain loops over row-major arrays. What
/// they compute is stated in the model's reports and its published reference (specs/models/
/// gemma3-270m.toml names them). Every way in which a known mistake departs from them is a
/// parameter, whose default is right.
namespace rooflab {

using Numbers = std::vector<double>;

// --- RoPE ----------------------------------------------------------------------------------------

struct RopeShape {
  std::int64_t batch, length, heads, head_dim;
};

struct RopeRule {
  double theta = 10000;
  double sign = 1;                   ///< -1 turns the wrong way
  bool interleaved = false;          ///< pairs (2i, 2i + 1) instead of (i, i + head_dim / 2)
  double width = 0;                  ///< divides the exponent; 0: head_dim
  bool reads_what_it_wrote = false;  ///< the second of a pair is turned with the new first one
  bool first_head_alone = false;     ///< the other heads stay as they are
};

/// Turns each pair (x_i, x_{i + head_dim/2}) by positions[t] * theta^(-2 i / head_dim).
/// @param x (batch, length, heads, head_dim)
/// @param positions (length), the same for each sequence, or (batch, length)
Computed rope(const Numbers& x, const Numbers& positions, const RopeShape& shape,
              const RopeRule& rule);

// --- Gated GELU ----------------------------------------------------------------------------------

/// gelu(gate) * up
Computed geglu(const Numbers& gate, const Numbers& up,
               const std::function<double(double)>& gelu = gelu_tanh);

// --- KV cache ------------------------------------------------------------------------------------

struct CacheShape {
  std::int64_t batch, length, heads, head_dim, capacity;
};

/// Copies token `source[i]` of `tokens` (batch, length, heads, head_dim) to slot `slot[i]` of
/// `cache` (batch, heads, capacity, head_dim), for each i in order.
void store_tokens(const Numbers& tokens, const std::vector<std::int64_t>& source,
                  const std::vector<std::int64_t>& slot, const CacheShape& shape, Numbers& cache);

/// The right way: the token at position p goes to slot p % capacity, later ones replace earlier.
void append_to_cache(const Numbers& tokens, const Numbers& positions, const CacheShape& shape,
                     Numbers& cache);

/// The same numbers with the middle axes of (batch, rows, columns, depth) swapped: what a reader
/// sees that takes (batch, columns, rows, depth) for the layout.
Numbers swap_middle_axes(const Numbers& x, std::int64_t batch, std::int64_t rows,
                         std::int64_t columns, std::int64_t depth);

// --- Attention -----------------------------------------------------------------------------------

struct AttentionShape {
  std::int64_t batch, query_length, query_heads, key_value_heads, head_dim, capacity;
};

/// First and last key position that a query attends to; empty when first > last.
struct KeyRange {
  std::int64_t first, last;
};

struct AttentionRule {
  double scale = 1;
  std::int64_t window = 0;  ///< 0: none
  /// Keys of a query: its index in the call and its position. Empty: `window` decides.
  std::function<KeyRange(std::int64_t query, std::int64_t position)> keys;
  /// Key/value head of a query head. Empty: consecutive query heads share one.
  std::function<std::int64_t(std::int64_t query_head)> head;
  bool normalised = true;
  bool shifted = true;          ///< false: exponentials in fp32 without the maximum taken off
  double probability_unit = 0;  ///< what rounds the probabilities before they meet the values
  /// > 0: q and k are themselves off by this much of each element, at random. The error is then the
  /// standard deviation that this leaves in the result, and nothing else.
  double element_deviation = 0;
};

/// softmax(scale q k) v over the keys that each query sees. `q` is (batch, query_length,
/// query_heads, head_dim); keys and values are (batch, key_value_heads, capacity, head_dim),
/// position j in slot j % capacity.
/// @param tokens which of the batch * query_length tokens to compute: (tokens, query_heads,
///               head_dim) is the result
Computed attention(const Numbers& q, const Numbers& keys, const Numbers& values,
                   const Numbers& positions, const AttentionShape& shape, const AttentionRule& rule,
                   const std::vector<std::int64_t>& tokens);

/// 0 … count - 1
std::vector<std::int64_t> all_tokens(std::int64_t count);

}  // namespace rooflab
