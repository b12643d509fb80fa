#include "labs/part5-flash-attention/oracle/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rooflab {
namespace {

/// What one row needs of the arrays.
struct Row {
  const double* q;     // (head_dim)
  const double* keys;  // (key_length, head_dim)
  const double* values;
  std::int64_t depth;

  const double* key(std::int64_t j) const { return keys + j * depth; }
  const double* value(std::int64_t j) const { return values + j * depth; }
};

/// Sums in four parts, which do not wait for each other.
double dot(const double* a, const double* b, std::int64_t count) {
  double sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int part = 0; part < 4; ++part) sums[part] += a[i + part] * b[i + part];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// How far an argument of exp may be off: in the dot product, in multiplying by the scale
/// and by log2(e), for a base of two, and in taking the maximum off.
double score_error(const Row& row, const KeyRange& range, const AttentionRule& rule,
                   const Scores& scores) {
  constexpr double kRoundings = 4;
  double longest_key = 0;
  double largest = 0;
  for (std::int64_t j = range.first; j <= range.last; ++j) {
    longest_key = std::max(longest_key, dot(row.key(j), row.key(j), row.depth));
    largest = std::max(largest, std::abs(scores.values[static_cast<std::size_t>(j - range.first)]));
  }
  const double norms = std::sqrt(dot(row.q, row.q, row.depth) * longest_key);
  return std::abs(rule.scale) * sum_tolerance(row.depth, rule.unit, norms) +
         kRoundings * rule.unit * largest;
}

/// The errors of a row's result. An exponential that is off by a share e_j of itself, which all may
/// be in common, moves out by sum_j p_j e_j (v_j - out).
void add_errors(const Row& row, const Scores& scores, const Softmax& softmax,
                const AttentionRule& rule, double error_of_score, const double* out,
                double* error) {
  // Of exp itself, of a rescaling, of the division.
  constexpr double kRoundings = 16;
  const double relative = 2 * error_of_score + kRoundings * rule.unit;
  const auto count = static_cast<std::int64_t>(scores.values.size());
  const auto depth = static_cast<std::size_t>(row.depth);
  Numbers moved(depth), magnitude(depth), squares(depth);
  for (std::int64_t j = 0; j < count; ++j) {
    // Of a mistake, weights may be negative.
    const double p = std::abs(softmax.weight[static_cast<std::size_t>(j)] / softmax.divisor);
    const double rounded = std::max(rule.weight_unit * p, rule.least_weight_move);
    const double* value = row.value(scores.first + j);
    for (std::size_t i = 0; i < depth; ++i) {
      moved[i] += p * std::abs(value[i] - out[i]);
      magnitude[i] += p * std::abs(value[i]);
      squares[i] += rounded * value[i] * rounded * value[i];
    }
  }
  for (std::size_t i = 0; i < depth; ++i) {
    // Roundings of the weights go to both sides: twice the root of their squares is five standard
    // deviations, and more than can be where there are at most four keys.
    error[i] = relative * moved[i] + kRoundings * rule.unit * magnitude[i] +
               sum_tolerance(count, rule.unit, magnitude[i]) + 2 * std::sqrt(squares[i]);
  }
}

Softmax row_softmax(const Scores& scores, bool sees_keys, const AttentionRule& rule) {
  if (!sees_keys && rule.softmax_without_keys) return rule.softmax_without_keys(scores);
  return rule.softmax ? rule.softmax(scores) : right_softmax(scores);
}

/// One row of the result; returns its log-sum-exp and the error of that.
std::pair<double, double> attend(const Row& row, std::int64_t query, const KeyRange& range,
                                 bool sees_keys, const AttentionShape& shape,
                                 const AttentionRule& rule, double* out, double* error) {
  if (range.count() == 0) return {-std::numeric_limits<double>::infinity(), 0};
  Scores scores{range.first, {}, shape.key_length, query};
  for (std::int64_t j = range.first; j <= range.last; ++j) {
    scores.values.push_back(rule.scale * dot(row.q, row.key(j), row.depth));
  }
  const double error_of_score = score_error(row, range, rule, scores);
  const Softmax softmax = row_softmax(scores, sees_keys, rule);
  for (std::size_t j = 0; j < scores.values.size(); ++j) {
    const double* value = row.value(range.first + static_cast<std::int64_t>(j));
    const double p = softmax.weight[j] / softmax.divisor;
    for (std::int64_t i = 0; i < row.depth; ++i) out[i] += p * value[i];
  }
  add_errors(row, scores, softmax, rule, error_of_score, out, error);

  // The logarithm of a sum that is off by a share of itself moves by that share.
  constexpr double kRoundings = 16;
  const auto count = static_cast<std::int64_t>(scores.values.size());
  const double share = kRoundings * rule.unit + sum_tolerance(count, rule.unit, 1);
  const double log_sum_exp = softmax.log_sum_exp;
  return {log_sum_exp, error_of_score + share + 4 * rule.unit * std::abs(log_sum_exp)};
}

}  // namespace

KeyRange Mask::keys(std::int64_t query, const AttentionShape& shape) const {
  if (!causal) return {0, shape.key_length - 1};
  const std::int64_t last = query + shape.key_length - shape.query_length;
  const std::int64_t first = window > 0 ? last - window + 1 : 0;
  return {std::max<std::int64_t>(0, first), last};
}

Softmax right_softmax(const Scores& scores) {
  const double maximum = *std::ranges::max_element(scores.values);
  Softmax softmax;
  for (const double score : scores.values) softmax.weight.push_back(std::exp(score - maximum));
  softmax.divisor = std::reduce(softmax.weight.begin(), softmax.weight.end());
  softmax.log_sum_exp = maximum + std::log(softmax.divisor);
  return softmax;
}

Attended attention(const Numbers& q, const Numbers& k, const Numbers& v,
                   const AttentionShape& shape, const AttentionRule& rule,
                   const std::vector<std::int64_t>& rows) {
  const std::int64_t group = shape.query_heads / shape.key_value_heads;
  const std::size_t elements = rows.size() * static_cast<std::size_t>(shape.head_dim);
  Attended result{{Numbers(elements), Numbers(elements)},
                  {Numbers(rows.size()), Numbers(rows.size())}};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::int64_t query = rows[r] % shape.query_length;
    const std::int64_t query_head = rows[r] / shape.query_length % shape.query_heads;
    const std::int64_t batch = rows[r] / shape.query_length / shape.query_heads;
    const std::int64_t head = rule.head ? rule.head(query_head) : query_head / group;
    const std::int64_t keys =
        (batch * shape.key_value_heads + head) * shape.key_length * shape.head_dim;
    const KeyRange range = rule.keys ? rule.keys(query) : rule.mask.keys(query, shape);
    const std::size_t to = r * static_cast<std::size_t>(shape.head_dim);
    const Row row = {q.data() + rows[r] * shape.head_dim, k.data() + keys, v.data() + keys,
                     shape.head_dim};
    std::tie(result.log_sum_exp.value[r], result.log_sum_exp.error[r]) =
        attend(row, query, range, rule.mask.keys(query, shape).count() > 0, shape, rule,
               &result.out.value[to], &result.out.error[to]);
  }
  return result;
}

}  // namespace rooflab
