#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "labs/part3-decoder/oracle/layer_case.h"
#include "labs/part3-decoder/oracle/tensors.h"
#include "labs/part3-decoder/oracle/testing/float_layer.h"

namespace rooflab {
namespace {

using ::testing::IsSupersetOf;

std::unique_ptr<Oracle> layer_oracle() { return oracle_registry().at("layer")(); }

/// A small layer whose heads are wider than its hidden size.
Values layer(const std::string& function, const std::string& type, std::int64_t length,
             std::int64_t window, std::int64_t capacity) {
  Values values{{"function", function},           {"type", type},
                {"batch", std::int64_t{2}},       {"length", length},
                {"hidden", std::int64_t{40}},     {"intermediate", std::int64_t{72}},
                {"query_heads", std::int64_t{4}}, {"key_value_heads", std::int64_t{2}},
                {"head_dim", std::int64_t{16}},   {"window", window},
                {"capacity", capacity},           {"theta", window > 0 ? 10000.0 : 1000000.0}};
  if (function == "prefill_then_decode") values["decode_steps"] = std::int64_t{6};
  return values;
}

std::vector<Values> all_cases(const std::string& type) {
  std::vector<Values> cases;
  for (const char* function :
       {"prefill", "decode", "decode_without_cache", "prefill_then_decode"}) {
    cases.push_back(layer(function, type, 23, 0, 32));
    cases.push_back(layer(function, type, 23, 8, 8));
    cases.push_back(layer(function, type, 23, 8, 11));
    cases.push_back(layer(function, type, 3, 8, 8));
  }
  return cases;
}

/// The largest difference, in tolerances. NaN for NaN.
double worst(const std::vector<double>& got, const Expected& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(got[i] - expected.value[i]);
    if (difference == 0) continue;
    worst = std::max(worst, difference / expected.tolerance[i]);
  }
  return worst;
}

const Expected& named(const std::vector<Expected>& all, const std::string& name) {
  return *std::ranges::find(all, name, &Expected::tensor);
}

TEST(LayerOracleTest, ToleratesRightImplementationsInBothTypesWithRoomToSpare) {
  for (const char* type : {"float", "bf16"}) {
    double closest = 0;
    for (const Values& parameters : all_cases(type)) {
      for (const std::uint64_t seed : {1, 2, 3}) {
        SCOPED_TRACE(text_of(parameters));
        const Problem problem = layer_oracle()->make(parameters, seed);
        const std::vector<Expected> expected = layer_oracle()->expect(problem);
        const auto outputs = testing::run_float_layer(problem);
        ASSERT_EQ(outputs.size(), expected.size());
        for (const Expected& right : expected) {
          const double distance = worst(outputs.at(right.tensor), right);
          EXPECT_LE(distance, 0.5) << right.tensor;
          closest = std::max(closest, distance);
        }
      }
    }
    RecordProperty(std::string("closest_") + type, std::to_string(closest));
    EXPECT_GT(closest, 0.05) << "the tolerance is so wide that it may miss mistakes";
  }
}

TEST(LayerOracleTest, DecodingStepByStepGivesWhatOneLongPrefillGives) {
  for (const std::int64_t window : {0, 8}) {
    Values long_one = layer("prefill", "float", 20, window, 32);
    const LayerCase c = read_layer_case(long_one);
    const Problem problem = make_layer_problem(long_one, 5);
    const std::vector<Expected> at_once = layer_outputs(problem);
    // The same tokens as a prompt of 14 and 6 steps.
    const Problem shaped =
        make_layer_problem(layer("prefill_then_decode", "float", 14, window, 32), 5);
    Problem stepwise = shaped;
    for (Tensor& tensor : stepwise.tensors) {
      const auto same = std::ranges::find(problem.tensors, tensor.name, &Tensor::name);
      if (same != problem.tensors.end() && tensor.name != "hidden") tensor.data = same->data;
    }
    const std::vector<double> hidden = widened(problem, "hidden");
    const std::int64_t width = c.shape.hidden;
    const auto token = [&](std::int64_t b, std::int64_t t) {
      return hidden.begin() + (b * 20 + t) * width;
    };
    std::vector<double> prompt;
    std::vector<double> steps;
    for (std::int64_t b = 0; b < 2; ++b) prompt.insert(prompt.end(), token(b, 0), token(b, 14));
    for (std::int64_t t = 14; t < 20; ++t) {
      for (std::int64_t b = 0; b < 2; ++b)
        steps.insert(steps.end(), token(b, t), token(b, t) + width);
    }
    for (Tensor& tensor : stepwise.tensors) {
      if (tensor.name == "hidden") {
        tensor = filled("hidden", tensor.type, tensor.role, tensor.shape, prompt);
      }
      if (tensor.name == "decode_hidden") {
        tensor = filled("decode_hidden", tensor.type, tensor.role, tensor.shape, steps);
      }
    }
    const std::vector<Expected> in_steps = layer_outputs(stepwise);
    const std::vector<double>& whole = named(at_once, "hidden").value;
    const std::vector<double>& decoded = named(in_steps, "decode_hidden").value;
    for (std::int64_t t = 14; t < 20; ++t) {
      for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t i = 0; i < width; ++i) {
          EXPECT_NEAR(decoded[((t - 14) * 2 + b) * width + i], whole[(b * 20 + t) * width + i],
                      1e-12);
        }
      }
    }
    for (const char* name : {"keys", "values"}) {
      const Expected& one = named(at_once, name);
      const Expected& other = named(in_steps, name);
      for (std::size_t i = 0; i < one.value.size(); ++i) {
        EXPECT_NEAR(one.value[i], other.value[i], 1e-12) << name;
      }
    }
  }
}

TEST(LayerOracleTest, LeavesSlotsWithoutATokenAsTheyAre) {
  const Problem problem = make_layer_problem(layer("prefill", "bf16", 5, 0, 9), 3);
  const std::vector<Expected> expected = layer_outputs(problem);
  const std::vector<double> before = widened(problem, "keys");
  const Expected& after = named(expected, "keys");
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool unused = i / 16 % 9 >= 5;
    EXPECT_EQ(after.value[i] == before[i] && after.tolerance[i] == 0, unused) << i;
  }
}

std::set<std::string> codes(const Values& parameters) {
  std::set<std::string> found;
  const auto oracle = layer_oracle();
  for (const KnownMistake& mistake : oracle->mistakes(oracle->make(parameters, 11))) {
    found.insert(mistake.code.text());
  }
  return found;
}

TEST(LayerOracleTest, TellsEveryKnownMistakeFromWhatIsRight) {
  for (const char* type : {"float", "bf16"}) {
    SCOPED_TRACE(type);
    EXPECT_THAT(codes(layer("prefill", type, 23, 8, 8)),
                IsSupersetOf({"RL0460", "RL0467", "RL0470", "RL0475", "RL0476", "RL0477", "RL0483",
                              "RL0484", "RL0485", "RL0486", "RL0487", "RL0489"}));
    EXPECT_THAT(codes(layer("prefill", type, 23, 0, 32)), IsSupersetOf({"RL0467", "RL0486"}));
    EXPECT_THAT(codes(layer("decode", type, 23, 8, 8)), IsSupersetOf({"RL0466", "RL0488"}));
    EXPECT_THAT(codes(layer("prefill_then_decode", type, 23, 8, 8)),
                IsSupersetOf({"RL0466", "RL0488"}));
  }
}

TEST(LayerOracleTest, NamesTheCachesBeforeWhatComesOfThem) {
  const Problem problem = layer_oracle()->make(layer("prefill", "float", 23, 0, 32), 1);
  EXPECT_EQ(layer_oracle()->expect(problem).at(0).tensor, "keys");
}

TEST(LayerOracleTest, EveryMistakeIsFurtherOffThanTwoTolerances) {
  const auto oracle = layer_oracle();
  for (const char* type : {"float", "bf16"}) {
    for (const Values& parameters :
         {layer("prefill_then_decode", type, 23, 8, 8), layer("prefill", type, 23, 0, 32)}) {
      const Problem problem = oracle->make(parameters, 12);
      const std::vector<Expected> right = oracle->expect(problem);
      for (const KnownMistake& mistake : oracle->mistakes(problem)) {
        double furthest = 0;
        for (const Expected& output : mistake.outputs) {
          const Expected& expected = named(right, output.tensor);
          for (std::size_t i = 0; i < output.value.size(); ++i) {
            const double difference = std::abs(output.value[i] - expected.value[i]);
            if (difference > 0) furthest = std::max(furthest, difference / expected.tolerance[i]);
          }
        }
        EXPECT_GT(furthest, 2) << type << " " << mistake.cause;
      }
    }
  }
}

TEST(LayerOracleTest, CountsTheWorkOfALayerOf270M) {
  Values values = layer("decode", "bf16", 1000, 512, 512);
  values["batch"] = std::int64_t{1};
  values["hidden"] = std::int64_t{640};
  values["intermediate"] = std::int64_t{2048};
  values["key_value_heads"] = std::int64_t{1};
  values["head_dim"] = std::int64_t{256};
  const Work decode = layer_oracle()->work(values);
  EXPECT_EQ(decode.flops.at("bf16_tensor"), 2.0 * 5570560 + 4.0 * 1024 * 512);
  // 11.14 MB of weights and 1 KiB for each of the tokens in the window.
  EXPECT_NEAR(decode.compulsory_bytes, 2.0 * 5570560 + 512 * 1024, 1e4);
  values["function"] = std::string("decode_without_cache");
  values["length"] = std::int64_t{2048};
  const Work without = layer_oracle()->work(values);
  const double pairs = 512.0 * 513 / 2 + (2048.0 - 512) * 512;
  EXPECT_EQ(without.flops.at("bf16_tensor"), 2048 * 2.0 * 5570560 + 4.0 * 1024 * pairs);
}

TEST(LayerOracleTest, RefusesACacheThatIsTooSmall) {
  EXPECT_THROW(layer_oracle()->make(layer("prefill", "float", 23, 8, 7), 1), std::invalid_argument);
  EXPECT_THROW(layer_oracle()->make(layer("prefill", "float", 23, 0, 22), 1),
               std::invalid_argument);
  EXPECT_THROW(layer_oracle()->make(layer("forward", "float", 23, 0, 32), 1),
               std::invalid_argument);
}

}  // namespace
}  // namespace rooflab
