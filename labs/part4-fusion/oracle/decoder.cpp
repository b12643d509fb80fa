#include "labs/part4-fusion/oracle/decoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace rooflab {
namespace {

constexpr double kEpsilon = 1e-6;  // Gemma 3's, as in the adapter

/// Rows of weight.size() elements over their root mean square, times the weight.
Numbers norm(const Numbers& x, const Numbers& weight) {
  const std::size_t width = weight.size();
  Numbers y(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += x[row + i] * x[row + i];
    const double root = std::sqrt(squares / static_cast<double>(width) + kEpsilon);
    for (std::size_t i = 0; i < width; ++i) y[row + i] = x[row + i] / root * weight[i];
  }
  return y;
}

/// x (rows, in) times weight^T, weight (out, in).
Numbers project(const Numbers& x, const Numbers& weight, std::int64_t rows) {
  const std::size_t in = x.size() / static_cast<std::size_t>(rows);
  const std::size_t out = weight.size() / in;
  Numbers y(static_cast<std::size_t>(rows) * out);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    for (std::size_t o = 0; o < out; ++o) {
      double sum = 0;
      for (std::size_t i = 0; i < in; ++i) sum += x[r * in + i] * weight[o * in + i];
      y[r * out + o] = sum;
    }
  }
  return y;
}

/// Turns pairs (i, i + head_dim / 2) of each head by the tables' row of `position`.
Numbers turn(const Numbers& x, std::int64_t position, const DecoderSizes& sizes,
             const DecoderNumbers& weights) {
  const auto width = static_cast<std::size_t>(sizes.head_dim);
  const std::size_t half = width / 2;
  const std::size_t row = static_cast<std::size_t>(position) * width;
  const Numbers& cosines = weights.at("cosines");
  const Numbers& sines = weights.at("sines");
  Numbers y(x.size());
  for (std::size_t head = 0; head < x.size(); head += width) {
    for (std::size_t i = 0; i < half; ++i) {
      const double first = x[head + i];
      const double second = x[head + half + i];
      y[head + i] = first * cosines[row + i] - second * sines[row + i];
      y[head + half + i] = second * cosines[row + half + i] + first * sines[row + half + i];
    }
  }
  return y;
}

void store(const Numbers& tokens, std::int64_t position, const DecoderSizes& sizes,
           Numbers& cache) {
  for (std::int64_t row = 0; row < sizes.batch * sizes.key_value_heads; ++row) {
    std::copy_n(tokens.begin() + row * sizes.head_dim, sizes.head_dim,
                cache.begin() + (row * sizes.capacity + position) * sizes.head_dim);
  }
}

/// One query head over the keys 0 … position of its key/value head.
void attend(const double* query, std::int64_t position, std::int64_t key_row,
            const DecoderSizes& sizes, const DecoderHistory& history, double* out) {
  const std::int64_t width = sizes.head_dim;
  const double* keys = &history.keys[static_cast<std::size_t>(key_row * sizes.capacity * width)];
  const double* values =
      &history.values[static_cast<std::size_t>(key_row * sizes.capacity * width)];
  Numbers scores(static_cast<std::size_t>(position + 1));
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t t = 0; t <= position; ++t) {
    double sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += query[i] * keys[t * width + i];
    scores[static_cast<std::size_t>(t)] = sum / std::sqrt(static_cast<double>(width));
    largest = std::max(largest, scores[static_cast<std::size_t>(t)]);
  }
  double total = 0;
  for (double& score : scores) total += score = std::exp(score - largest);
  std::fill_n(out, width, 0.0);
  for (std::int64_t t = 0; t <= position; ++t) {
    const double share = scores[static_cast<std::size_t>(t)] / total;
    for (std::int64_t i = 0; i < width; ++i) out[i] += share * values[t * width + i];
  }
}

Numbers attention(const Numbers& normed, std::int64_t position, const DecoderSizes& sizes,
                  const DecoderNumbers& weights, DecoderHistory& history) {
  const auto projected = [&](const char* name) {
    return project(normed, weights.at(name), sizes.batch);
  };
  const Numbers q = turn(norm(projected("q_proj"), weights.at("q_norm")), position, sizes, weights);
  const Numbers k = turn(norm(projected("k_proj"), weights.at("k_norm")), position, sizes, weights);
  store(k, position, sizes, history.keys);
  store(projected("v_proj"), position, sizes, history.values);
  Numbers out(q.size());
  const std::int64_t group = sizes.query_heads / sizes.key_value_heads;
  for (std::int64_t row = 0; row < sizes.batch * sizes.query_heads; ++row) {
    const auto at = static_cast<std::size_t>(row * sizes.head_dim);
    attend(&q[at], position, row / group, sizes, history, &out[at]);
  }
  return project(out, weights.at("o_proj"), sizes.batch);
}

double gelu(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

Numbers mlp(const Numbers& normed, const DecoderSizes& sizes, const DecoderNumbers& weights) {
  Numbers gated = project(normed, weights.at("gate_proj"), sizes.batch);
  const Numbers up = project(normed, weights.at("up_proj"), sizes.batch);
  for (std::size_t i = 0; i < gated.size(); ++i) gated[i] = gelu(gated[i]) * up[i];
  return project(gated, weights.at("down_proj"), sizes.batch);
}

Numbers sum_of(const Numbers& a, const Numbers& b) {
  Numbers sum(a.size());
  std::ranges::transform(a, b, sum.begin(), std::plus());
  return sum;
}

}  // namespace

RotationTables rotation_tables(std::int64_t capacity, std::int64_t head_dim, double theta) {
  RotationTables tables;
  const std::int64_t half = head_dim / 2;
  for (std::int64_t position = 0; position < capacity; ++position) {
    for (std::int64_t i = 0; i < head_dim; ++i) {
      const double exponent = -2.0 * static_cast<double>(i % half) / static_cast<double>(head_dim);
      const double angle = static_cast<double>(position) * std::pow(theta, exponent);
      tables.cosines.push_back(std::cos(angle));
      tables.sines.push_back(std::sin(angle));
    }
  }
  return tables;
}

Numbers decode_token(const Numbers& input, std::int64_t position, const DecoderSizes& sizes,
                     const DecoderNumbers& weights, DecoderHistory& history) {
  const Numbers mixed =
      attention(norm(input, weights.at("input_norm")), position, sizes, weights, history);
  const Numbers residual = sum_of(input, norm(mixed, weights.at("post_attention_norm")));
  const Numbers fed = mlp(norm(residual, weights.at("pre_feedforward_norm")), sizes, weights);
  return sum_of(residual, norm(fed, weights.at("post_feedforward_norm")));
}

}  // namespace rooflab
