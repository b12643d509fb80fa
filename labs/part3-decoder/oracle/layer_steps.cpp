#include <algorithm>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/part3-decoder/oracle/layer_case.h"
#include "labs/part3-decoder/oracle/layer_mistakes.h"
#include "labs/part3-decoder/oracle/tensors.h"

/// The three steps of a layer by themselves (interface/layer_steps.h), all in fp32.
namespace rooflab {
namespace {

constexpr ElementType kType = ElementType::float32;

/// `length` new tokens of each of `batch` sequences, the first at `first_position`. `capacity` is
/// that of the cache, for layer_attention alone.
struct StepCase {
  std::int64_t batch, length, first_position, capacity;
  LayerShape shape;

  static StepCase read(const Values& parameters) {
    const auto optional = [&](const char* name) {
      return parameters.contains(name) ? integer(parameters, name, 0) : 0;
    };
    return {integer(parameters, "batch"), integer(parameters, "length"), optional("first_position"),
            optional("capacity"), read_layer_shape(parameters)};
  }
  std::int64_t tokens() const { return batch * length; }
  double unit() const { return intermediate_unit(kType, shape); }
};

/// What the three have in common: how a problem's tensors are made, and how mistakes are found.
class StepOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const StepCase c = StepCase::read(parameters);
    Random random(seed);
    Problem problem{parameters, {}};
    draw_layer_numbers(problem.parameters, seed);
    problem.tensors.push_back(random_tensor("hidden", kType, hidden_role(),
                                            {c.batch, c.length, c.shape.hidden}, 1, random));
    add_layer_weights(problem, c.shape, kType, random);
    add_tensors(c, problem, random);
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return outputs(problem, {}, true);
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const StepCase c = StepCase::read(problem.parameters);
    return layer_mistakes(c.shape, c.capacity, [&](const LayerRule& rule, bool stores_keys) {
      return outputs(problem, rule, stores_keys);
    });
  }

 protected:
  virtual Role hidden_role() const { return Role::in_out; }
  virtual void add_tensors(const StepCase& c, Problem& problem, Random& random) const = 0;
  virtual std::vector<Expected> outputs(const Problem& problem, const LayerRule& rule,
                                        bool stores_keys) const = 0;

  static std::vector<std::int64_t> heads_shape(const StepCase& c, std::int64_t heads) {
    return {c.batch, c.length, heads, c.shape.head_dim};
  }
  /// The multiply-adds of linear layers with so many weights.
  static Work work_of(const StepCase& c, std::int64_t weights) {
    const double flops = 2 * static_cast<double>(c.tokens()) * static_cast<double>(weights);
    return {{{"fp32", flops}}, 4 * static_cast<double>(weights)};
  }
};

class ProjectionsOracle : public StepOracle {
 public:
  Work work(const Values& parameters) const override {
    const StepCase c = StepCase::read(parameters);
    const std::int64_t heads = c.shape.query_heads + 2 * c.shape.key_value_heads;
    return work_of(c, c.shape.hidden * heads * c.shape.head_dim);
  }

 protected:
  Role hidden_role() const override { return Role::input; }

  void add_tensors(const StepCase& c, Problem& problem, Random& /*random*/) const override {
    problem.tensors.push_back(consecutive("positions", c.first_position, c.length));
    problem.tensors.push_back(output("q", kType, heads_shape(c, c.shape.query_heads)));
    problem.tensors.push_back(output("k", kType, heads_shape(c, c.shape.key_value_heads)));
    problem.tensors.push_back(output("v", kType, heads_shape(c, c.shape.key_value_heads)));
  }

  std::vector<Expected> outputs(const Problem& problem, const LayerRule& rule,
                                bool /*stores_keys*/) const override {
    const StepCase c = StepCase::read(problem.parameters);
    LayerResult result =
        run_projections(widened(problem, "hidden"), c.batch, c.first_position, c.shape,
                        widened_layer_weights(problem, c.shape), c.unit(), rule);
    return {stored("q", kType, std::move(result.queries)),
            stored("k", kType, std::move(result.keys)),
            stored("v", kType, std::move(result.values))};
  }
};

/// The cache holds the tokens before the first new one, as far as it has room for them.
class AttentionStepOracle : public StepOracle {
 public:
  Work work(const Values& parameters) const override {
    const StepCase c = StepCase::read(parameters);
    return work_of(c, c.shape.hidden * c.shape.query_heads * c.shape.head_dim);
  }

 protected:
  void add_tensors(const StepCase& c, Problem& problem, Random& random) const override {
    const std::int64_t needed = c.shape.window > 0 && c.length == 1
                                    ? std::min(c.shape.window, c.first_position + 1)
                                    : c.first_position + c.length;
    if (c.capacity < needed) throw std::invalid_argument("`capacity` leaves keys out");
    problem.tensors.push_back(consecutive("positions", c.first_position, c.length));
    const auto add = [&](const char* name, Role role, const std::vector<std::int64_t>& shape) {
      problem.tensors.push_back(random_tensor(name, kType, role, shape, 1.2, random));
    };
    add("q", Role::input, heads_shape(c, c.shape.query_heads));
    add("k", Role::input, heads_shape(c, c.shape.key_value_heads));
    add("v", Role::input, heads_shape(c, c.shape.key_value_heads));
    const std::vector<std::int64_t> cache{c.batch, c.shape.key_value_heads, c.capacity,
                                          c.shape.head_dim};
    add("keys", Role::in_out, cache);
    add("values", Role::in_out, cache);
  }

  std::vector<Expected> outputs(const Problem& problem, const LayerRule& rule,
                                bool stores_keys) const override {
    const StepCase c = StepCase::read(problem.parameters);
    const LayerProjections projected{widened(problem, "q"), widened(problem, "k"),
                                     widened(problem, "v")};
    Numbers keys = widened(problem, "keys"), values = widened(problem, "values");
    History history{in_order(c, keys), in_order(c, values), c.first_position + c.length};
    Computed hidden =
        run_attention(widened(problem, "hidden"), projected, c.batch, c.first_position, c.shape,
                      widened_layer_weights(problem, c.shape), history, c.unit(), rule);
    if (stores_keys) {
      append(c, projected.k, keys);
      append(c, projected.v, values);
    }
    const auto exact = [](const char* name, Numbers cache) {
      Numbers errors(cache.size());
      return stored(name, kType, {std::move(cache), std::move(errors)});
    };
    return {exact("keys", std::move(keys)), exact("values", std::move(values)),
            stored("hidden", kType, std::move(hidden))};
  }

 private:
  static void append(const StepCase& c, const Numbers& tokens, Numbers& cache) {
    Numbers positions;
    for (std::int64_t t = 0; t < c.length; ++t) {
      positions.push_back(static_cast<double>(c.first_position + t));
    }
    append_to_cache(tokens, positions,
                    {c.batch, c.length, c.shape.key_value_heads, c.shape.head_dim, c.capacity},
                    cache);
  }

  /// The cache's tokens in the order of their positions. Where the new ones belong is what their
  /// slots hold before them.
  static Numbers in_order(const StepCase& c, const Numbers& cache) {
    const std::int64_t depth = c.shape.head_dim, all = c.first_position + c.length;
    Numbers tokens(static_cast<std::size_t>(c.batch * c.shape.key_value_heads * all * depth));
    for (std::int64_t head = 0; head < c.batch * c.shape.key_value_heads; ++head) {
      for (std::int64_t p = std::max<std::int64_t>(0, c.first_position - c.capacity); p < all;
           ++p) {
        std::copy_n(cache.begin() + (head * c.capacity + p % c.capacity) * depth, depth,
                    tokens.begin() + (head * all + p) * depth);
      }
    }
    return tokens;
  }
};

class MlpStepOracle : public StepOracle {
 public:
  Work work(const Values& parameters) const override {
    const StepCase c = StepCase::read(parameters);
    return work_of(c, 3 * c.shape.hidden * c.shape.intermediate);
  }

 protected:
  void add_tensors(const StepCase& /*c*/, Problem& /*problem*/, Random& /*random*/) const override {
  }

  std::vector<Expected> outputs(const Problem& problem, const LayerRule& rule,
                                bool /*stores_keys*/) const override {
    const StepCase c = StepCase::read(problem.parameters);
    return {stored("hidden", kType,
                   run_mlp(widened(problem, "hidden"), c.shape,
                           widened_layer_weights(problem, c.shape), c.unit(), rule))};
  }
};

ROOFLAB_ORACLE("layer_projections", ProjectionsOracle)
ROOFLAB_ORACLE("layer_attention", AttentionStepOracle)
ROOFLAB_ORACLE("layer_mlp", MlpStepOracle)

}  // namespace
}  // namespace rooflab
