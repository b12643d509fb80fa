#include "labs/part3-decoder/oracle/layer_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "labs/oracle_support/layer_weights.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {
namespace {

/// A case's tensors while its calls run one after the other.
class Session {
 public:
  Session(const Problem& problem, const LayerRule& rule, bool stores_keys)
      : problem_(problem),
        case_(read_layer_case(problem.parameters)),
        rule_(rule),
        stores_keys_(stores_keys),
        weights_(widened_layer_weights(problem, case_.shape)) {
    const auto slots = static_cast<std::size_t>(case_.batch * case_.shape.key_value_heads *
                                                case_.all_tokens() * case_.shape.head_dim);
    history_ = {Numbers(slots), Numbers(slots), case_.all_tokens()};
    if (!case_.has_cache()) return;
    for (const char* name : {"keys", "values"}) {
      Numbers cache = widened(problem, name);
      Numbers exact(cache.size(), 0.0);
      caches_.push_back({name, std::move(cache), std::move(exact)});
    }
    if (case_.function == "decode") recall();
  }

  /// The caches first: hidden comes of them.
  std::vector<Expected> run() {
    const bool steps_only = case_.function == "decode";
    Expected hidden = stored("hidden", case_.type,
                             call(widened(problem_, "hidden"), case_.first_position(), steps_only));
    std::vector<Expected> of_steps;
    if (case_.decode_steps > 0) of_steps.push_back(decode_steps());
    std::vector<Expected> outputs = std::move(caches_);
    outputs.push_back(std::move(hidden));
    std::ranges::move(of_steps, std::back_inserter(outputs));
    return outputs;
  }

 private:
  Expected decode_steps() {
    const Numbers all = widened(problem_, "decode_hidden");
    const std::int64_t size = case_.batch * case_.shape.hidden;
    Computed result;
    for (std::int64_t step = 0; step < case_.decode_steps; ++step) {
      const auto begin = all.begin() + step * size;
      const Computed row = call(Numbers(begin, begin + size), case_.length + step, true);
      result.value.insert(result.value.end(), row.value.begin(), row.value.end());
      result.error.insert(result.error.end(), row.error.begin(), row.error.end());
    }
    return stored("decode_hidden", case_.type, std::move(result));
  }

  /// One call of the student's functions.
  Computed call(const Numbers& hidden, std::int64_t first_position, bool decode) {
    LayerRule rule = rule_;
    if (!decode) rule.misses_new_token = false;  // a prompt's own keys are at hand
    if (!decode) rule.positions_from_0 = false;  // they do start there
    if (decode) rule.ring = 0;                   // a ring holds all that one token looks at
    if (decode && rule.misses_new_token) recall_slot(first_position);
    LayerResult result = run_layer(hidden, case_.batch, first_position, case_.shape, weights_,
                                   history_, intermediate_unit(case_.type, case_.shape), rule);
    if (!case_.has_cache()) return result.hidden;
    if (decode && !stores_keys_) {
      recall_slot(first_position);  // forgets what run_layer() has stored
      return result.hidden;
    }
    const auto length = static_cast<std::int64_t>(result.keys.value.size()) /
                        (case_.batch * case_.shape.key_value_heads * case_.shape.head_dim);
    keep(stored("keys", case_.type, std::move(result.keys)), first_position, length, caches_[0]);
    keep(stored("values", case_.type, std::move(result.values)), first_position, length,
         caches_[1]);
    return result.hidden;
  }

  void keep(const Expected& tokens, std::int64_t first_position, std::int64_t length,
            Expected& cache) const {
    const CacheShape shape{case_.batch, length, case_.shape.key_value_heads, case_.shape.head_dim,
                           case_.capacity};
    Numbers positions;
    for (std::int64_t t = 0; t < length; ++t) {
      positions.push_back(static_cast<double>(first_position + t));
    }
    append_to_cache(tokens.value, positions, shape, cache.value);
    append_to_cache(tokens.tolerance, positions, shape, cache.tolerance);
  }

  /// Reads what the cache holds of the tokens before the first call.
  void recall() {
    for (std::int64_t p = std::max<std::int64_t>(0, case_.length - 1 - case_.capacity);
         p < case_.length - 1; ++p) {
      recall_slot(p);
    }
  }

  /// Copies the cache's slot of position `p` into the history.
  void recall_slot(std::int64_t p) {
    const std::int64_t depth = case_.shape.head_dim;
    for (std::int64_t head = 0; head < case_.batch * case_.shape.key_value_heads; ++head) {
      const std::int64_t from = (head * case_.capacity + p % case_.capacity) * depth;
      const std::int64_t to = (head * history_.capacity + p) * depth;
      std::copy_n(caches_[0].value.begin() + from, depth, history_.keys.begin() + to);
      std::copy_n(caches_[1].value.begin() + from, depth, history_.values.begin() + to);
    }
  }

  const Problem& problem_;
  LayerCase case_;
  const LayerRule& rule_;
  bool stores_keys_;
  LayerWeights weights_;
  History history_;
  std::vector<Expected> caches_;
};

void check(const LayerCase& c) {
  constexpr std::array kFunctions = {"prefill", "decode", "decode_without_cache",
                                     "prefill_then_decode"};
  if (std::ranges::find(kFunctions, c.function) == kFunctions.end()) {
    throw std::invalid_argument("no `function` of the layer is called " + c.function);
  }
  if (!c.has_cache()) return;
  const std::int64_t needed =
      c.shape.window > 0 ? std::min(c.shape.window, c.all_tokens()) : c.all_tokens();
  if (c.capacity < needed) {
    throw std::invalid_argument("tokens look back at " + std::to_string(needed) +
                                " keys: `capacity` must be at least that");
  }
}

/// Norms lie around 0, those of queries and keys around 1/2, which spreads the scores of softmax;
/// projections keep the size of what they project.
Tensor random_weight(const WeightShape& weight, ElementType type, Random& random) {
  constexpr double kNormDeviation = 0.3;
  constexpr double kHeadNormMean = 0.5;
  if (weight.in > 0) {
    return random_tensor(weight.name, type, Role::input, {weight.out, weight.in},
                         1 / std::sqrt(static_cast<double>(weight.in)), random);
  }
  const std::string name = weight.name;
  Numbers values = normal_values(weight.out, kNormDeviation, random);
  if (name == "q_norm" || name == "k_norm") {
    for (double& value : values) value += kHeadNormMean;
  }
  return filled(name, type, Role::input, {weight.out}, values);
}

}  // namespace

LayerShape read_layer_shape(const Values& parameters) {
  LayerShape shape{integer(parameters, "hidden"),
                   integer(parameters, "intermediate"),
                   integer(parameters, "query_heads"),
                   integer(parameters, "key_value_heads"),
                   integer(parameters, "head_dim", 2),
                   integer(parameters, "window", 0),
                   0};
  // Before they are drawn, the work is known without them.
  if (parameters.contains("theta")) shape.theta = real(parameters, "theta");
  if (parameters.contains("epsilon")) shape.epsilon = real(parameters, "epsilon");
  if (parameters.contains("attention_scale")) {
    shape.attention_scale = real(parameters, "attention_scale");
  }
  if (shape.query_heads % shape.key_value_heads != 0 || shape.head_dim % 2 != 0) {
    throw std::invalid_argument(
        "`query_heads` must be a multiple of `key_value_heads`, and `head_dim` even");
  }
  return shape;
}

void draw_layer_numbers(Values& parameters, std::uint64_t seed) {
  draw_default(parameters, "theta", 5e3, 2e6, seed);
  // In a row whose elements have size 1, as nearly all of a layer's, a smaller one would not show.
  draw_default(parameters, "epsilon", 2e-3, 1e-2, seed);
  draw_attention_scale(parameters, "attention_scale", integer(parameters, "head_dim"), seed);
}

void add_layer_weights(Problem& problem, const LayerShape& shape, ElementType type,
                       Random& random) {
  for (const WeightShape& weight : layer_weight_shapes(shape)) {
    problem.tensors.push_back(random_weight(weight, type, random));
  }
}

LayerWeights widened_layer_weights(const Problem& problem, const LayerShape& shape) {
  LayerWeights weights;
  for (const WeightShape& weight : layer_weight_shapes(shape)) {
    weights[weight.name] = widened(problem, weight.name);
  }
  return weights;
}

LayerCase read_layer_case(const Values& parameters) {
  LayerCase c;
  c.function = text(parameters, "function");
  c.batch = integer(parameters, "batch");
  c.length = integer(parameters, "length");
  c.decode_steps = c.function == "prefill_then_decode" ? integer(parameters, "decode_steps") : 0;
  c.capacity = c.has_cache() ? integer(parameters, "capacity") : 0;
  c.shape = read_layer_shape(parameters);
  c.type = storage_type(parameters);
  check(c);
  return c;
}

Problem make_layer_problem(const Values& parameters, std::uint64_t seed) {
  const LayerCase c = read_layer_case(parameters);
  Random random(seed);
  Problem problem{parameters, {}};
  draw_layer_numbers(problem.parameters, seed);
  const auto add = [&](const char* name, Role role, std::vector<std::int64_t> shape,
                       double deviation) {
    problem.tensors.push_back(
        random_tensor(name, c.type, role, std::move(shape), deviation, random));
  };
  const std::int64_t called = c.function == "decode" ? 1 : c.length;
  add("hidden", Role::in_out, {c.batch, called, c.shape.hidden}, 1);
  if (c.decode_steps > 0) {
    add("decode_hidden", Role::in_out, {c.decode_steps, c.batch, 1, c.shape.hidden}, 1);
  }
  problem.tensors.push_back(consecutive("positions", c.first_position(), called + c.decode_steps));
  add_layer_weights(problem, c.shape, c.type, random);
  if (c.has_cache()) {
    // As large as normed keys and projected values are; before a prefill it is what was left there.
    const std::vector<std::int64_t> shape{c.batch, c.shape.key_value_heads, c.capacity,
                                          c.shape.head_dim};
    add("keys", Role::in_out, shape, 1.5);
    add("values", Role::in_out, shape, 1);
  }
  return problem;
}

std::vector<Expected> layer_outputs(const Problem& problem, const LayerRule& rule,
                                    bool stores_keys) {
  return Session(problem, rule, stores_keys).run();
}

Work layer_work(const LayerCase& c) {
  const LayerShape& s = c.shape;
  const auto hidden = static_cast<double>(s.hidden);
  const auto queries = static_cast<double>(s.query_heads * s.head_dim);
  const auto keys = static_cast<double>(s.key_value_heads * s.head_dim);
  const auto intermediate = static_cast<double>(s.intermediate);
  double tokens = 0;
  double pairs = 0;
  for (std::int64_t p = c.first_position(); p < c.all_tokens(); ++p) {
    tokens += static_cast<double>(c.batch);
    const std::int64_t seen = s.window > 0 ? std::min(p + 1, s.window) : p + 1;
    pairs += static_cast<double>(c.batch * seen);
  }
  const double weights =
      2 * hidden * queries + 2 * hidden * keys + 3 * hidden * intermediate;  // multiply-adds
  const double products = 2 * tokens * weights + 4 * queries * pairs;
  const double heads = static_cast<double>(s.query_heads + s.key_value_heads);
  const double norms = 5 * tokens * (4 * hidden + queries + keys) + 3 * tokens * (4 + heads);
  const double rotations = 3 * tokens * (queries + keys);
  const double gated = 9 * tokens * intermediate;
  const double residuals = 2 * tokens * hidden;
  Work work;
  work.flops[c.type == ElementType::bfloat16 ? "bf16_tensor" : "fp32"] += products;
  work.flops["fp32"] += norms + rotations + gated + residuals;

  const double norm_weights = 4 * hidden + 2 * static_cast<double>(s.head_dim);
  double elements = weights + norm_weights + 2 * tokens * hidden;
  if (c.has_cache()) {
    const auto kept = static_cast<double>(std::min(c.all_tokens(), c.capacity));
    const auto batch = static_cast<double>(c.batch);
    // Decode reads all that is seen and writes one token, prefill writes what it keeps.
    elements += 2 * batch * keys * kept;
  }
  work.compulsory_bytes = static_cast<double>(size_of(c.type)) * elements;
  return work;
}

}  // namespace rooflab
