#include <algorithm>
#include <cmath>
#include <numeric>

#include "labs/part3-decoder/oracle/operations.h"

namespace rooflab {
namespace {

/// What one row of one head needs of the arrays.
struct Row {
  const double* q;
  const double* keys;
  const double* values;
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

/// The sum of (a b)^2, summed as dot() does.
double dot_of_squares(const double* a, const double* b, std::int64_t count) {
  double sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int part = 0; part < 4; ++part) {
      const double product = a[i + part] * b[i + part];
      sums[part] += product * product;
    }
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i] * a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Softmax weights and how far fp32 may be off in each, relative to it.
struct Probabilities {
  Numbers weight;
  double relative_error = 0;
};

Probabilities softmax(const Numbers& scores, double score_error, const AttentionRule& rule) {
  // An exponential moves by what its argument moves; itself, the division, and the rescaling of
  // running sums add roundings. The sum of all of them is off by about sqrt(count) more.
  constexpr double kRoundings = 16;
  const double greatest = *std::ranges::max_element(scores);
  double largest_magnitude = 0;
  Probabilities p;
  double sum = 0;
  for (const double score : scores) {
    const double exponential = rule.shifted
                                   ? std::exp(score - greatest)
                                   : static_cast<double>(static_cast<float>(std::exp(score)));
    p.weight.push_back(exponential);
    sum += exponential;
    largest_magnitude = std::max(largest_magnitude, std::abs(score));
  }
  if (rule.normalised) {
    for (double& weight : p.weight) weight /= sum;
  }
  const double roundings =
      kRoundings + 2 * largest_magnitude + std::sqrt(static_cast<double>(scores.size()));
  p.relative_error = 2 * score_error + roundings * kFloat32Unit;
  return p;
}

/// How far the result is off when each element of q and of k is off at random, by `deviation` of
/// itself: a score by scale * deviation * the root of sum (q k)^2, and the result, to first order,
/// by the root of sum (p_j * that of score j * (v_j - result))^2.
void deviation_of_row(const Row& row, const KeyRange& range, const AttentionShape& shape,
                      const AttentionRule& rule, const Numbers& weights, const double* out,
                      double* error) {
  const std::int64_t depth = shape.head_dim;
  Numbers squares(static_cast<std::size_t>(depth));
  for (std::int64_t j = range.first; j <= range.last; ++j) {
    const std::int64_t slot = j % shape.capacity * depth;
    const double terms = dot_of_squares(row.q, row.keys + slot, depth);
    const double weight = weights[static_cast<std::size_t>(j - range.first)];
    const double moved = weight * rule.scale * rule.element_deviation * std::sqrt(terms);
    for (std::int64_t i = 0; i < depth; ++i) {
      const double by = moved * (row.values[slot + i] - out[i]);
      squares[i] += by * by;
    }
  }
  for (std::int64_t i = 0; i < depth; ++i) error[i] = std::sqrt(squares[i]);
}

/// How far the result is off when the probabilities and the terms of its sum are rounded.
void rounding_of_row(const Row& row, const KeyRange& range, const AttentionShape& shape,
                     const AttentionRule& rule, const Probabilities& p, double* error) {
  const std::int64_t depth = shape.head_dim;
  Numbers magnitude(static_cast<std::size_t>(depth));
  Numbers squares(static_cast<std::size_t>(depth));
  for (std::int64_t j = range.first; j <= range.last; ++j) {
    const double weight = p.weight[static_cast<std::size_t>(j - range.first)];
    const double* value = row.values + j % shape.capacity * depth;
    for (std::int64_t i = 0; i < depth; ++i) {
      const double term = weight * value[i];
      magnitude[i] += std::abs(term);
      squares[i] += term * term;
    }
  }
  for (std::int64_t i = 0; i < depth; ++i) {
    error[i] = p.relative_error * magnitude[i] + rule.probability_unit * std::sqrt(squares[i]);
  }
}

/// One row: softmax(scale q k) v over the keys in `range`.
void attend(const Row& row, const KeyRange& range, const AttentionShape& shape,
            const AttentionRule& rule, double* out, double* error) {
  const std::int64_t depth = shape.head_dim;
  const double norm_q = std::sqrt(dot(row.q, row.q, depth));
  Numbers scores;
  double score_error = 0;
  for (std::int64_t j = range.first; j <= range.last; ++j) {
    const double* key = row.keys + j % shape.capacity * depth;
    scores.push_back(rule.scale * dot(row.q, key, depth));
    if (rule.element_deviation > 0) continue;  // which then is all that counts
    const double norm_key = std::sqrt(dot(key, key, depth));
    score_error = std::max(
        score_error, std::abs(rule.scale) * sum_tolerance(depth, kFloat32Unit, norm_q * norm_key));
  }
  if (scores.empty()) {  // what dividing zero by zero gives
    std::fill_n(out, depth, std::nan(""));
    return;
  }
  const Probabilities p = softmax(scores, score_error, rule);
  for (std::int64_t j = range.first; j <= range.last; ++j) {
    const double weight = p.weight[static_cast<std::size_t>(j - range.first)];
    const double* value = row.values + j % shape.capacity * depth;
    for (std::int64_t i = 0; i < depth; ++i) out[i] += weight * value[i];
  }
  if (rule.element_deviation > 0) {
    deviation_of_row(row, range, shape, rule, p.weight, out, error);
  } else {
    rounding_of_row(row, range, shape, rule, p, error);
  }
}

KeyRange right_keys(std::int64_t window, std::int64_t position) {
  const std::int64_t first = window > 0 ? position - window + 1 : 0;
  return {std::max<std::int64_t>(0, first), position};
}

}  // namespace

Computed attention(const Numbers& q, const Numbers& keys, const Numbers& values,
                   const Numbers& positions, const AttentionShape& shape, const AttentionRule& rule,
                   const std::vector<std::int64_t>& tokens) {
  const std::int64_t group = shape.query_heads / shape.key_value_heads;
  const std::int64_t row_size = shape.query_heads * shape.head_dim;
  const std::size_t elements = tokens.size() * static_cast<std::size_t>(row_size);
  Computed result{Numbers(elements), Numbers(elements)};
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const std::int64_t batch = tokens[t] / shape.query_length;
    const std::int64_t query = tokens[t] % shape.query_length;
    const auto position = static_cast<std::int64_t>(positions[static_cast<std::size_t>(query)]);
    const KeyRange range =
        rule.keys ? rule.keys(query, position) : right_keys(rule.window, position);
    for (std::int64_t h = 0; h < shape.query_heads; ++h) {
      const std::int64_t head = rule.head ? rule.head(h) : h / group;
      const std::int64_t cache =
          (batch * shape.key_value_heads + head) * shape.capacity * shape.head_dim;
      const std::int64_t to = static_cast<std::int64_t>(t) * row_size + h * shape.head_dim;
      attend({q.data() + tokens[t] * row_size + h * shape.head_dim, keys.data() + cache,
              values.data() + cache},
             range, shape, rule, result.value.data() + to, result.error.data() + to);
    }
  }
  return result;
}

std::vector<std::int64_t> all_tokens(std::int64_t count) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

}  // namespace rooflab
