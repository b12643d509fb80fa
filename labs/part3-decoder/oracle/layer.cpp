#include "labs/part3-decoder/oracle/layer.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rooflab {
namespace {

/// How many standard deviations a tolerance is wide. Of some 10^5 elements one lies beyond 4.5;
/// right implementations in float and bfloat16 were seen up to 5.2 off, and get twice that.
constexpr double kDeviations = 11;

double root_mean_square(const double* x, std::int64_t count) {
  return std::sqrt(std::inner_product(x, x + count, x, 0.0) / static_cast<double>(count));
}

/// x (tokens, in) weight^T, weight (out, in): (tokens, out).
Numbers linear(const Numbers& x, const Numbers& weight, std::int64_t in) {
  const auto tokens = static_cast<std::int64_t>(x.size()) / in;
  const auto out = static_cast<std::int64_t>(weight.size()) / in;
  Numbers y(static_cast<std::size_t>(tokens * out));
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(tokens),
              static_cast<int>(out), static_cast<int>(in), 1.0, x.data(), static_cast<int>(in),
              weight.data(), static_cast<int>(in), 0.0, y.data(), static_cast<int>(out));
  return y;
}

/// One call of the layer. Rounding errors are independent and about as often up as down, so their
/// squares add: m tensors stored in a row leave an error of sqrt(m) units, relative to the size of
/// what they hold. Softmax and the gated product make more of some tokens' errors than of others',
/// so that each token has its own number of units; RMSNorm sets the size that they are relative to.
class Run {
 public:
  Run(std::int64_t batch, std::int64_t length, std::int64_t first_position, const LayerShape& shape,
      const LayerWeights& weights, History& history, double unit, const LayerRule& rule)
      : batch_(batch),
        length_(length),
        shape_(shape),
        weights_(weights),
        history_(history),
        unit_(unit),
        rule_(rule) {
    for (std::int64_t t = 0; t < length; ++t) {
      positions_.push_back(static_cast<double>(first_position + t));
    }
  }

  LayerResult run(const Numbers& hidden) {
    attend(hidden, project(hidden));
    const Numbers h = result_.hidden.value;
    for (std::size_t i = 0; i < h.size(); ++i) {  // stored in between
      result_.hidden.error[i] += 2 * unit_ * std::abs(h[i]);
    }
    inherit();
    feed_forward(h);
    return std::move(result_);
  }

  LayerResult run_projections(const Numbers& hidden) {
    project(hidden);
    return std::move(result_);
  }

  Computed run_attention(const Numbers& hidden, const LayerProjections& projected) {
    attend(hidden, projected);
    return std::move(result_.hidden);
  }

  Computed run_mlp(const Numbers& hidden) {
    result_.hidden = {hidden, Numbers(hidden.size())};
    units_.assign(static_cast<std::size_t>(batch_ * length_), 0.0);
    feed_forward(hidden);
    return std::move(result_.hidden);
  }

 private:
  LayerProjections project(const Numbers& hidden) {
    const Numbers x = rule_.input_norm ? norm(hidden, "input_norm") : hidden;
    LayerProjections p{linear(x, weight("q_proj"), shape_.hidden),
                       linear(x, weight("k_proj"), shape_.hidden),
                       linear(x, weight("v_proj"), shape_.hidden)};
    p.q = normed_and_turned(p.q, rule_.query_norm_weight, rule_.query_norm, rule_.query_turned,
                            rule_.query_turned_first, shape_.query_heads);
    p.k = normed_and_turned(p.k, rule_.key_norm_weight, rule_.key_norm, rule_.key_turned,
                            rule_.key_turned_first, shape_.key_value_heads);
    if (rule_.value_norm) p.v = norm(p.v, "k_norm");
    // Queries and keys: normed input, projection, norm and rotation are stored; values: normed
    // input and projection.
    const double units = std::sqrt(4 + angle_units() * angle_units());
    result_.queries = with_row_errors(p.q, units);
    result_.keys = with_row_errors(p.k, units);
    result_.values = with_row_errors(p.v, std::sqrt(2.0));
    return p;
  }

  /// hidden += norm(attention)
  void attend(const Numbers& hidden, const LayerProjections& projected) {
    result_.hidden = {hidden, Numbers(hidden.size())};
    add_block(attention_block(projected), "post_attention_norm",
              rule_.post_attention_norm && !rule_.llama_order);
  }

  /// hidden += norm(mlp(norm(hidden)))
  void feed_forward(const Numbers& hidden) {
    const char* name = rule_.llama_order ? "post_attention_norm" : "pre_feedforward_norm";
    add_block(mlp_block(rule_.pre_feedforward_norm ? norm(hidden, name) : hidden),
              "post_feedforward_norm", rule_.post_feedforward_norm && !rule_.llama_order);
  }

  const Numbers& weight(const std::string& name) const { return weights_.at(name); }

  double epsilon() const { return rule_.epsilon > 0 ? rule_.epsilon : shape_.epsilon; }

  Numbers norm(const Numbers& x, const std::string& name) const {
    return rmsnorm(x, weight(name), epsilon(), inverse_root_mean_square, rule_.factor).value;
  }

  /// hidden += norm(block), with the errors that each token's units of rounding leave.
  void add_block(const Numbers& block, const std::string& name, bool normed) {
    const auto width = static_cast<std::size_t>(shape_.hidden);
    Numbers sum(block.size());
    for (std::size_t i = 0; i < block.size(); ++i) {
      sum[i] = block[i] + (rule_.residual_inside_norm ? result_.hidden.value[i] : 0);
    }
    const Numbers added = normed ? norm(sum, name) : sum;
    const Numbers plain = normed ? rmsnorm(sum, Numbers(width), epsilon()).value : sum;
    Computed& h = result_.hidden;
    const bool keeps_residual = rule_.residual && !(rule_.residual_inside_norm && normed);
    const Numbers& norm_weight = weight(name);
    double row_error = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (i % width == 0) {
        const double size = root_mean_square(plain.data() + i, shape_.hidden);
        row_error = kDeviations * unit_ * units_[i / width] * size;
      }
      const double factor = normed ? rule_.factor(norm_weight[i % width]) : 1;
      h.value[i] = added[i] + (keeps_residual ? h.value[i] : 0);
      h.error[i] = std::hypot(h.error[i], row_error * std::abs(factor));
    }
  }

  Numbers attention_block(const LayerProjections& projected) {
    keep(projected.k, projected.v);
    const Computed attended = over_history(projected.q);
    count_attention_units(attended);
    return linear(attended.value, weight("o_proj"), shape_.query_heads * shape_.head_dim);
  }

  /// The values' way: normed input, projection, attention, projection and norm are stored, and
  /// probabilities may be rounded. What scores are off by comes on top.
  void count_attention_units(const Computed& attended) {
    constexpr double kValueStores = 6;
    const std::int64_t width = shape_.query_heads * shape_.head_dim;
    units_.clear();
    for (std::size_t row = 0; row < attended.value.size(); row += static_cast<std::size_t>(width)) {
      const double moved = root_mean_square(attended.error.data() + row, width);
      const double relative = moved / root_mean_square(attended.value.data() + row, width) / unit_;
      units_.push_back(std::sqrt(kValueStores + relative * relative));
    }
  }

  /// What the residual stream of each token is off by, in units: the MLP's input.
  void inherit() {
    const std::int64_t width = shape_.hidden;
    const Computed& h = result_.hidden;
    units_.clear();
    for (std::size_t row = 0; row < h.value.size(); row += static_cast<std::size_t>(width)) {
      const double error = root_mean_square(h.error.data() + row, width) / kDeviations;
      units_.push_back(error / unit_ / root_mean_square(h.value.data() + row, width));
    }
  }

  Numbers normed_and_turned(const Numbers& x, const char* name, bool normed, bool turned,
                            bool turned_first, std::int64_t heads) const {
    const RopeShape shape{batch_, length_, heads, shape_.head_dim};
    RopeRule rule = rule_.rope;
    if (rule.theta == 0) rule.theta = shape_.theta;
    Numbers positions = positions_;
    if (rule_.positions_from_0) std::iota(positions.begin(), positions.end(), 0.0);
    const auto turn = [&](const Numbers& from) {
      return turned ? rope(from, positions, shape, rule).value : from;
    };
    if (!normed) return turn(x);
    return turned_first ? norm(turn(x), name) : turn(norm(x, name));
  }

  /// Puts the call's keys and values into the history.
  void keep(const Numbers& k, const Numbers& v) {
    const CacheShape shape{batch_, length_, shape_.key_value_heads, shape_.head_dim,
                           history_.capacity};
    if (rule_.misses_new_token) before_ = history_;
    append_to_cache(k, positions_, shape, history_.keys);
    append_to_cache(v, positions_, shape, history_.values);
  }

  /// Angles are products of the position and powers of theta that are some 2 roundings off.
  double angle_units() const { return 2 * kFloat32Unit * positions_.back() / unit_; }

  Computed with_row_errors(const Numbers& x, double units) const {
    Computed result{x, Numbers(x.size())};
    const auto depth = static_cast<std::size_t>(shape_.head_dim);
    double size = 0;  // of the row
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % depth == 0) size = root_mean_square(x.data() + i, shape_.head_dim);
      result.error[i] = kDeviations * unit_ * units * std::max(size, std::abs(x[i]));
    }
    return result;
  }

  Computed over_history(const Numbers& q) const {
    AttentionRule rule;
    // Normed input, projection, norm and rotation are stored, and angles are off.
    constexpr double kStores = 4;
    rule.element_deviation =
        unit_ * std::sqrt(2 * (kStores + angle_units() * angle_units()));  // of q, and of k
    rule.scale = rule_.scale_factor * shape_.scale();
    if (shape_.window > 0 && !rule_.ignores_window) {
      rule.window = shape_.window + rule_.window_change;
    }
    const History& all = rule_.misses_new_token ? before_ : history_;
    const History ring = rule_.ring > 0 ? ring_of(all) : History{};
    const History& seen = rule_.ring > 0 ? ring : all;
    const AttentionShape shape{
        batch_,          length_,      shape_.query_heads, shape_.key_value_heads,
        shape_.head_dim, seen.capacity};
    return attention(q, seen.keys, seen.values, positions_, shape, rule,
                     all_tokens(batch_ * length_));
  }

  /// The same keys and values in a ring, the latest token of each slot.
  History ring_of(const History& all) const {
    const std::int64_t slots = rule_.ring;
    const auto last = static_cast<std::int64_t>(positions_.back());
    const auto into_ring = [&](const Numbers& from) {
      Numbers to(
          static_cast<std::size_t>(batch_ * shape_.key_value_heads * slots * shape_.head_dim));
      for (std::int64_t head = 0; head < batch_ * shape_.key_value_heads; ++head) {
        for (std::int64_t p = std::max<std::int64_t>(0, last - slots + 1); p <= last; ++p) {
          std::copy_n(from.begin() + (head * all.capacity + p) * shape_.head_dim, shape_.head_dim,
                      to.begin() + (head * slots + p % slots) * shape_.head_dim);
        }
      }
      return to;
    };
    return {into_ring(all.keys), into_ring(all.values), slots};
  }

  Numbers mlp_block(const Numbers& x) {
    const char* gate = rule_.gate_and_up_swapped ? "up_proj" : "gate_proj";
    const char* up = rule_.gate_and_up_swapped ? "gate_proj" : "up_proj";
    const Numbers g = linear(x, weight(gate), shape_.hidden);
    const Numbers u = linear(x, weight(up), shape_.hidden);
    count_mlp_units(g, u);
    return linear(geglu(g, u).value, weight("down_proj"), shape_.intermediate);
  }

  /// Gate and up are off by what their input is off by, relative to the size of the whole row, and
  /// by one rounding of each element; so is their product. Then its projection and the norm are
  /// stored.
  void count_mlp_units(const Numbers& gate, const Numbers& up) {
    constexpr double kLastStores = 2;
    const std::int64_t width = shape_.intermediate;
    for (std::size_t token = 0; token < units_.size(); ++token) {
      const double* g = gate.data() + static_cast<std::int64_t>(token) * width;
      const double* u = up.data() + static_cast<std::int64_t>(token) * width;
      const double input = 1 + units_[token] * units_[token];  // the normed input is stored
      const double g_moves = root_mean_square(g, width);
      const double u_moves = root_mean_square(u, width);
      double squares = 0;
      double errors = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        const double product = gelu_tanh(g[i]) * u[i];
        const double by_gate = gelu_tanh_slope(g[i]) * u[i];
        const double by_up = gelu_tanh(g[i]);
        squares += product * product;
        errors +=
            input * (by_gate * by_gate * g_moves * g_moves + by_up * by_up * u_moves * u_moves);
        errors += by_gate * by_gate * g[i] * g[i] + 2 * product * product;
      }
      units_[token] = std::sqrt(kLastStores + errors / squares);
    }
  }

  std::int64_t batch_, length_;
  const LayerShape& shape_;
  const LayerWeights& weights_;
  History& history_;
  History before_;
  double unit_;
  const LayerRule& rule_;
  Numbers positions_;
  Numbers units_;  // (tokens) of the block in work
  LayerResult result_;
};

}  // namespace

LayerResult run_layer(const Numbers& hidden, std::int64_t batch, std::int64_t first_position,
                      const LayerShape& shape, const LayerWeights& weights, History& history,
                      double unit, const LayerRule& rule) {
  const auto length = static_cast<std::int64_t>(hidden.size()) / (batch * shape.hidden);
  return Run(batch, length, first_position, shape, weights, history, unit, rule).run(hidden);
}

LayerResult run_projections(const Numbers& hidden, std::int64_t batch, std::int64_t first_position,
                            const LayerShape& shape, const LayerWeights& weights, double unit,
                            const LayerRule& rule) {
  History none;
  const auto length = static_cast<std::int64_t>(hidden.size()) / (batch * shape.hidden);
  return Run(batch, length, first_position, shape, weights, none, unit, rule)
      .run_projections(hidden);
}

Computed run_attention(const Numbers& hidden, const LayerProjections& projected, std::int64_t batch,
                       std::int64_t first_position, const LayerShape& shape,
                       const LayerWeights& weights, History& history, double unit,
                       const LayerRule& rule) {
  const auto length = static_cast<std::int64_t>(hidden.size()) / (batch * shape.hidden);
  return Run(batch, length, first_position, shape, weights, history, unit, rule)
      .run_attention(hidden, projected);
}

Computed run_mlp(const Numbers& hidden, const LayerShape& shape, const LayerWeights& weights,
                 double unit, const LayerRule& rule) {
  History none;
  const auto tokens = static_cast<std::int64_t>(hidden.size()) / shape.hidden;
  return Run(1, tokens, 0, shape, weights, none, unit, rule).run_mlp(hidden);
}

double intermediate_unit(ElementType type, const LayerShape& shape) {
  // Rounding to bfloat16 moves a value by at most 2^-8 of itself, in the mean by 2^-9.
  if (type == ElementType::bfloat16) return 0x1p-9;
  // In fp32, sums of K products dominate: partial sums grow like a random walk, and their roundings
  // leave sqrt(K / 6) units of the result's size.
  const auto longest = static_cast<double>(
      std::max({shape.hidden, shape.intermediate, shape.query_heads * shape.head_dim}));
  return kFloat32Unit * (2 + std::sqrt(longest / 6));
}

}  // namespace rooflab
