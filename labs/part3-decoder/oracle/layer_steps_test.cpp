#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "labs/part3-decoder/oracle/layer_case.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

Values step(std::int64_t length, std::int64_t first_position, std::int64_t window,
            std::int64_t capacity) {
  return {{"batch", std::int64_t{2}},         {"length", length},
          {"first_position", first_position}, {"capacity", capacity},
          {"hidden", std::int64_t{40}},       {"intermediate", std::int64_t{72}},
          {"query_heads", std::int64_t{4}},   {"key_value_heads", std::int64_t{2}},
          {"head_dim", std::int64_t{16}},     {"window", window}};
}

TEST(LayerStepsTest, OneAfterTheOtherTheyMakeALayer) {
  Values parameters = step(23, 0, 8, 32);
  parameters["function"] = std::string("prefill");
  parameters["type"] = std::string("float");
  const Problem problem = make_layer_problem(parameters, 7);
  const LayerCase c = read_layer_case(problem.parameters);
  const LayerWeights weights = widened_layer_weights(problem, c.shape);
  const double unit = intermediate_unit(c.type, c.shape);
  const auto slots =
      static_cast<std::size_t>(c.batch * c.shape.key_value_heads * c.length * c.shape.head_dim);
  const Numbers hidden = widened(problem, "hidden");

  History whole{Numbers(slots), Numbers(slots), c.length};
  const LayerResult layer = run_layer(hidden, c.batch, 0, c.shape, weights, whole, unit);

  History stepwise{Numbers(slots), Numbers(slots), c.length};
  const LayerResult p = run_projections(hidden, c.batch, 0, c.shape, weights, unit);
  const Computed attended = run_attention(hidden, {p.queries.value, p.keys.value, p.values.value},
                                          c.batch, 0, c.shape, weights, stepwise, unit);
  const Computed result = run_mlp(attended.value, c.shape, weights, unit);
  EXPECT_EQ(result.value, layer.hidden.value);
  EXPECT_EQ(stepwise.keys, whole.keys);
  EXPECT_EQ(stepwise.values, whole.values);
}

std::set<std::string> codes(const char* task, const Values& parameters) {
  const auto oracle = oracle_registry().at(task)();
  std::set<std::string> found;
  for (const KnownMistake& mistake : oracle->mistakes(oracle->make(parameters, 11))) {
    found.insert(mistake.code.text());
  }
  return found;
}

TEST(LayerStepsTest, EachTellsItsOwnMistakesAndNoOthers) {
  const auto projections = codes("layer_projections", step(5, 11, 8, 0));
  EXPECT_THAT(projections, IsSupersetOf({"RL0460", "RL0462", "RL0466", "RL0467", "RL0483", "RL0485",
                                         "RL0486", "RL0487"}));
  EXPECT_THAT(projections, Not(Contains("RL0470")));
  EXPECT_THAT(projections, Not(Contains("RL0475")));
  EXPECT_THAT(codes("layer_attention", step(1, 21, 8, 8)),
              IsSupersetOf({"RL0475", "RL0477", "RL0483", "RL0484", "RL0488"}));
  const auto mlp = codes("layer_mlp", step(5, 0, 0, 0));
  EXPECT_THAT(mlp, IsSupersetOf({"RL0460", "RL0462", "RL0470", "RL0483", "RL0484"}));
  EXPECT_THAT(mlp, Not(Contains("RL0485")));
}

TEST(LayerStepsTest, RefuseACacheThatLeavesKeysOut) {
  const auto oracle = oracle_registry().at("layer_attention")();
  EXPECT_THROW(oracle->make(step(5, 0, 0, 4), 1), std::invalid_argument);
  EXPECT_NO_THROW(oracle->make(step(1, 21, 8, 8), 1));
}

}  // namespace
}  // namespace rooflab
