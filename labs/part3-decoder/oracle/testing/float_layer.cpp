#include "labs/part3-decoder/oracle/testing/float_layer.h"

#include <algorithm>
#include <cmath>

#include "labs/oracle_support/rounding.h"
#include "labs/part3-decoder/oracle/layer_case.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab::testing {
namespace {

using Floats = std::vector<float>;

class FloatLayer {
 public:
  explicit FloatLayer(const Problem& problem)
      : problem_(problem), case_(read_layer_case(problem.parameters)), shape_(case_.shape) {
    if (!case_.has_cache()) return;
    keys_ = read("keys");
    values_ = read("values");
  }

  std::map<std::string, std::vector<double>> run() {
    std::map<std::string, std::vector<double>> outputs;
    outputs["hidden"] =
        widen(forward(read("hidden"), case_.first_position(), case_.function == "decode"));
    if (case_.decode_steps > 0) {
      const Floats all = read("decode_hidden");
      const std::int64_t size = case_.batch * shape_.hidden;
      for (std::int64_t step = 0; step < case_.decode_steps; ++step) {
        const Floats one(all.begin() + step * size, all.begin() + (step + 1) * size);
        const auto row = widen(forward(one, case_.length + step, true));
        auto& result = outputs["decode_hidden"];
        result.insert(result.end(), row.begin(), row.end());
      }
    }
    if (case_.has_cache()) {
      outputs["keys"] = widen(keys_);
      outputs["values"] = widen(values_);
    }
    return outputs;
  }

 private:
  Floats read(const std::string& name) const {
    const std::vector<double> values = widened(problem_, name);
    return {values.begin(), values.end()};
  }
  static std::vector<double> widen(const Floats& values) { return {values.begin(), values.end()}; }
  float store(float value) const { return static_cast<float>(rounded(case_.type, value)); }

  Floats forward(Floats hidden, std::int64_t first, bool decode) {
    const std::int64_t length =
        static_cast<std::int64_t>(hidden.size()) / (case_.batch * shape_.hidden);
    add(hidden, norm(attention_block(norm(hidden, "input_norm"), length, first, decode),
                     "post_attention_norm"));
    const Floats x = norm(hidden, "pre_feedforward_norm");
    const Floats gate = linear(x, "gate_proj", shape_.hidden);
    const Floats up = linear(x, "up_proj", shape_.hidden);
    Floats gated(gate.size());
    for (std::size_t i = 0; i < gate.size(); ++i) {
      const float g = gate[i];
      const float inner = 0.7978845608F * (g + 0.044715F * g * g * g);
      gated[i] = store(0.5F * g * (1 + std::tanh(inner)) * up[i]);
    }
    add(hidden, norm(linear(gated, "down_proj", shape_.intermediate), "post_feedforward_norm"));
    return hidden;
  }

  void add(Floats& hidden, const Floats& block) const {
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = store(hidden[i] + block[i]);
  }

  Floats norm(const Floats& x, const std::string& name) const {
    const Floats weight = read(name);
    Floats y(x.size());
    for (std::size_t row = 0; row < x.size(); row += weight.size()) {
      float sum = 0;
      for (std::size_t i = 0; i < weight.size(); ++i) sum += x[row + i] * x[row + i];
      const float scale = 1 / std::sqrt(sum / static_cast<float>(weight.size()) +
                                        static_cast<float>(shape_.epsilon));
      for (std::size_t i = 0; i < weight.size(); ++i) {
        y[row + i] = store(x[row + i] * scale * (1 + weight[i]));
      }
    }
    return y;
  }

  Floats linear(const Floats& x, const std::string& name, std::int64_t in) const {
    const Floats weight = read(name);
    const std::int64_t out = static_cast<std::int64_t>(weight.size()) / in;
    Floats y;
    for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(in)) {
      for (std::int64_t o = 0; o < out; ++o) {
        float sum = 0;
        for (std::int64_t i = 0; i < in; ++i) sum += x[row + i] * weight[o * in + i];
        y.push_back(store(sum));
      }
    }
    return y;
  }

  void turn(Floats& x, std::int64_t heads, std::int64_t length, std::int64_t first) const {
    const std::int64_t half = shape_.head_dim / 2;
    const auto theta = static_cast<float>(shape_.theta);
    for (std::size_t row = 0; row < x.size() / static_cast<std::size_t>(2 * half); ++row) {
      const auto token = static_cast<std::int64_t>(row) / heads % length;
      for (std::int64_t i = 0; i < half; ++i) {
        const float angle = static_cast<float>(first + token) *
                            std::pow(theta, -static_cast<float>(i) / static_cast<float>(half));
        float& a = x[row * 2 * half + i];
        float& b = x[row * 2 * half + half + i];
        const float turned = a * std::cos(angle) - b * std::sin(angle);
        b = store(b * std::cos(angle) + a * std::sin(angle));
        a = store(turned);
      }
    }
  }

  Floats attention_block(const Floats& x, std::int64_t length, std::int64_t first, bool decode) {
    Floats q = norm(linear(x, "q_proj", shape_.hidden), "q_norm");
    Floats k = norm(linear(x, "k_proj", shape_.hidden), "k_norm");
    const Floats v = linear(x, "v_proj", shape_.hidden);
    turn(q, shape_.query_heads, length, first);
    turn(k, shape_.key_value_heads, length, first);
    if (case_.has_cache()) {
      append(k, length, first, case_.capacity, keys_);
      append(v, length, first, case_.capacity, values_);
    }
    if (decode) {
      return linear(attend(q, keys_, values_, length, first, case_.capacity), "o_proj",
                    shape_.query_heads * shape_.head_dim);
    }
    Floats prompt_keys(k.size());
    Floats prompt_values(v.size());
    append(k, length, first, length, prompt_keys);
    append(v, length, first, length, prompt_values);
    return linear(attend(q, prompt_keys, prompt_values, length, first, length), "o_proj",
                  shape_.query_heads * shape_.head_dim);
  }

  void append(const Floats& x, std::int64_t length, std::int64_t first, std::int64_t capacity,
              Floats& cache) const {
    const std::int64_t depth = shape_.head_dim;
    for (std::size_t row = 0; row < x.size() / static_cast<std::size_t>(depth); ++row) {
      const std::int64_t head = static_cast<std::int64_t>(row) % shape_.key_value_heads;
      const std::int64_t token = static_cast<std::int64_t>(row) / shape_.key_value_heads;
      const std::int64_t slot = (first + token % length) % capacity;
      const std::int64_t to = (token / length * shape_.key_value_heads + head) * capacity + slot;
      std::copy_n(x.begin() + static_cast<std::int64_t>(row) * depth, depth,
                  cache.begin() + to * depth);
    }
  }

  /// One query and head after the other, by a running softmax over the keys.
  Floats attend(const Floats& q, const Floats& keys, const Floats& values, std::int64_t length,
                std::int64_t first, std::int64_t capacity) const {
    const std::int64_t depth = shape_.head_dim;
    const std::int64_t group = shape_.query_heads / shape_.key_value_heads;
    Floats out(q.size());
    for (std::size_t row = 0; row < q.size() / static_cast<std::size_t>(depth); ++row) {
      const std::int64_t token = static_cast<std::int64_t>(row) / shape_.query_heads;
      const std::int64_t head = static_cast<std::int64_t>(row) % shape_.query_heads / group;
      const std::int64_t cache = (token / length * shape_.key_value_heads + head) * capacity;
      const std::int64_t position = first + token % length;
      const std::int64_t oldest =
          shape_.window > 0 ? std::max<std::int64_t>(0, position - shape_.window + 1) : 0;
      float greatest = -INFINITY;
      float sum = 0;
      Floats total(static_cast<std::size_t>(depth), 0.0F);
      for (std::int64_t j = oldest; j <= position; ++j) {
        const std::int64_t from = (cache + j % capacity) * depth;
        float score = 0;
        for (std::int64_t i = 0; i < depth; ++i) score += q[row * depth + i] * keys[from + i];
        score *= static_cast<float>(shape_.scale());
        const float shift = std::exp(greatest - std::max(greatest, score));
        greatest = std::max(greatest, score);
        const float weight = std::exp(score - greatest);
        sum = sum * shift + weight;
        for (std::int64_t i = 0; i < depth; ++i) {
          total[i] = total[i] * shift + weight * values[from + i];
        }
      }
      for (std::int64_t i = 0; i < depth; ++i) out[row * depth + i] = store(total[i] / sum);
    }
    return out;
  }

  const Problem& problem_;
  LayerCase case_;
  const LayerShape& shape_;
  Floats keys_, values_;
};

}  // namespace

std::map<std::string, std::vector<double>> run_float_layer(const Problem& problem) {
  return FloatLayer(problem).run();
}

}  // namespace rooflab::testing
