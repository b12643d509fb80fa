#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "labs/oracle_support/rounding.h"

/// Attention in fp64 as plain loops: all scores of a row, their softmax, the weighted sum of the
/// values. Every way in which a known mistake departs from it is a parameter, whose default is
/// right.
namespace rooflab {

using Numbers = std::vector<double>;

struct AttentionShape {
  std::int64_t batch, query_heads, key_value_heads, query_length, key_length, head_dim;

  std::int64_t rows() const { return batch * query_heads * query_length; }
};

/// First and last key that a query sees; none when first > last.
struct KeyRange {
  std::int64_t first, last;

  std::int64_t count() const { return last < first ? 0 : last - first + 1; }
};

/// The keys that query i sees; see interface/attention_shape.h.
struct Mask {
  bool causal = false;
  std::int64_t window = 0;

  KeyRange keys(std::int64_t query, const AttentionShape& shape) const;
};

/// What a row is computed from: its scores, of the keys first … first + scores.size() - 1, and the
/// other sizes that a mistake may depend on.
struct Scores {
  std::int64_t first;
  Numbers values;
  std::int64_t key_length;
  std::int64_t query = 0;
};

/// What a row's softmax gives: out = sum_j weight[j] v_j / divisor.
struct Softmax {
  Numbers weight;
  double divisor = 1;
  double log_sum_exp = 0;
};

/// exp(s - maximum), their sum, and maximum + log(sum). @pre there is a score
Softmax right_softmax(const Scores& scores);

struct AttentionRule {
  double scale = 1;
  Mask mask;
  /// Keys of a query. Empty: the mask decides.
  std::function<KeyRange(std::int64_t query)> keys;
  /// Key/value head of a query head. Empty: consecutive query heads share one.
  std::function<std::int64_t(std::int64_t query_head)> head;
  /// Softmax of a row that sees a key. Empty: right_softmax().
  std::function<Softmax(const Scores& scores)> softmax;
  /// The same of a row that sees none by the mask, and got keys all the same.
  std::function<Softmax(const Scores& scores)> softmax_without_keys;
  /// What rounding the softmax weights may move each by: relative to it, and at least.
  double weight_unit = 0;
  double least_weight_move = 0;
  double unit = kFloat32Unit;  ///< relative rounding error of each step of the arithmetic
};

struct Attended {
  Computed out;          ///< (rows, head_dim)
  Computed log_sum_exp;  ///< (rows)
};

/// The given rows of (batch, query_heads, query_length); a row that sees no key is 0, its
/// log_sum_exp minus infinity. `error` is that of the arithmetic in any order, to first order: a
/// score is off by a sum's rounding, and out by what that moves the weights.
Attended attention(const Numbers& q, const Numbers& k, const Numbers& v,
                   const AttentionShape& shape, const AttentionRule& rule,
                   const std::vector<std::int64_t>& rows);

}  // namespace rooflab
