#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "labs/part3-decoder/oracle/layer.h"
#include "labs/part3-decoder/oracle/layer_case.h"

/// The oracle against what another implementation computed, in fp32 (golden/README.md).
namespace rooflab {
namespace {

/// fp32 on the other side: some roundings of numbers around 1, each 2^-24.
constexpr double kTolerance = 100 * kFloat32Unit;

nlohmann::json golden(const std::string& name) {
  std::ifstream file(std::string(ROOFLAB_SOURCE_DIR "/labs/part3-decoder/golden/") + name);
  return nlohmann::json::parse(file);
}

void expect_close(const Numbers& got, const Numbers& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  ASSERT_FALSE(got.empty());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(std::abs(got[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i])))
        << "element " << i << ": " << got[i] << " instead of " << expected[i];
  }
}

Numbers positions_from(std::int64_t first, std::int64_t count) {
  Numbers positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), static_cast<double>(first));
  return positions;
}

struct GoldenLayer {
  LayerShape shape;
  LayerWeights weights;
  std::int64_t batch = 0;
  std::int64_t tokens = 0;
  nlohmann::json data;
};

std::vector<GoldenLayer> golden_layers() {
  std::vector<GoldenLayer> layers;
  const nlohmann::json document = golden("layers.json");
  for (const nlohmann::json& data : document.at("layers")) {
    GoldenLayer layer;
    const auto size = [&](const char* name) { return data.at(name).get<std::int64_t>(); };
    layer.shape = {size("hidden"),
                   size("intermediate"),
                   size("query_heads"),
                   size("key_value_heads"),
                   size("head_dim"),
                   size("window"),
                   data.at("theta").get<double>()};
    layer.batch = size("batch");
    for (const auto& [name, values] : data.at("weights").items()) {
      layer.weights[name] = values.get<Numbers>();
    }
    for (const auto& call : data.at("calls")) layer.tokens += call.at("length").get<std::int64_t>();
    layer.data = data;
    layers.push_back(std::move(layer));
  }
  return layers;
}

History empty_history(const GoldenLayer& layer) {
  const auto elements = static_cast<std::size_t>(layer.batch * layer.shape.key_value_heads *
                                                 layer.tokens * layer.shape.head_dim);
  return {Numbers(elements), Numbers(elements), layer.tokens};
}

/// The last `kept` tokens of a history, in the layout of a cache.
Numbers last_tokens(const Numbers& all, std::int64_t capacity, std::int64_t depth,
                    std::int64_t kept) {
  Numbers last;
  for (auto head = all.begin(); head != all.end(); head += capacity * depth) {
    last.insert(last.end(), head + (capacity - kept) * depth, head + capacity * depth);
  }
  return last;
}

TEST(GoldenLayerTest, EveryCallGivesWhatThePublishedImplementationGives) {
  for (const GoldenLayer& layer : golden_layers()) {
    SCOPED_TRACE(layer.data.at("name"));
    History history = empty_history(layer);
    for (const auto& call : layer.data.at("calls")) {
      const auto first = call.at("first_position").get<std::int64_t>();
      SCOPED_TRACE("from position " + std::to_string(first));
      const LayerResult result = run_layer(call.at("hidden").get<Numbers>(), layer.batch, first,
                                           layer.shape, layer.weights, history, kFloat32Unit);
      expect_close(result.hidden.value, call.at("output").get<Numbers>(), kTolerance);
    }
    const auto kept = layer.data.at("kept").get<std::int64_t>();
    const std::int64_t depth = layer.shape.head_dim;
    expect_close(last_tokens(history.keys, layer.tokens, depth, kept),
                 layer.data.at("keys").get<Numbers>(), kTolerance);
    expect_close(last_tokens(history.values, layer.tokens, depth, kept),
                 layer.data.at("values").get<Numbers>(), kTolerance);
  }
}

TEST(GoldenLayerTest, CoversLocalAndGlobalLayersPastTheirWindowAndHeadsWiderThanTheHiddenSize) {
  bool local = false;
  bool global = false;
  bool wide = false;
  for (const GoldenLayer& layer : golden_layers()) {
    local |= layer.shape.window > 0 && layer.tokens > 2 * layer.shape.window;
    global |= layer.shape.window == 0;
    wide |= layer.shape.query_heads * layer.shape.head_dim > layer.shape.hidden;
  }
  EXPECT_TRUE(local && global && wide);
}

TEST(GoldenPartsTest, RmsNormGivesWhatThePublishedModuleGives) {
  const nlohmann::json data = golden("parts.json").at("rmsnorm");
  const Numbers y =
      rmsnorm(data.at("x").get<Numbers>(), data.at("weight").get<Numbers>(), kGemmaEpsilon).value;
  expect_close(y, data.at("y").get<Numbers>(), kTolerance);
}

TEST(GoldenPartsTest, RopeGivesWhatThePublishedModuleGives) {
  const nlohmann::json document = golden("parts.json");
  for (const auto& data : document.at("rope")) {
    const auto size = [&](const char* name) { return data.at(name).get<std::int64_t>(); };
    const RopeShape shape{size("batch"), size("length"), size("heads"), size("head_dim")};
    RopeRule rule;
    rule.theta = data.at("theta").get<double>();
    const Numbers positions = positions_from(size("first_position"), shape.length);
    const Computed y = rope(data.at("x").get<Numbers>(), positions, shape, rule);
    // Angles of 1000 and more are off by as many roundings, there and here within the error.
    const Numbers expected = data.at("y").get<Numbers>();
    ASSERT_EQ(y.value.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(std::abs(y.value[i] - expected[i]) <= y.error[i]) << i;
      EXPECT_LT(y.error[i], 0.02) << "too wide to tell anything";
    }
  }
}

TEST(GoldenPartsTest, GegluGivesWhatThePublishedActivationGives) {
  const nlohmann::json data = golden("parts.json").at("geglu");
  const Numbers out = geglu(data.at("gate").get<Numbers>(), data.at("up").get<Numbers>()).value;
  expect_close(out, data.at("out").get<Numbers>(), kTolerance);
}

}  // namespace
}  // namespace rooflab
