#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "grader/contract/elements.h"
#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rounding.h"
#include "labs/part2-roofline/oracle/inputs.h"

namespace rooflab {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::unique_ptr<Oracle> stream() { return oracle_registry().at("stream")(); }

Values parameters(const std::string& function, std::int64_t n) {
  return {{"function", function}, {"n", n}};
}

/// Every function in float32, from the host's own single-precision library.
struct FloatFunctions {
  explicit FloatFunctions(const Problem& problem)
      : s(static_cast<float>(real(problem.parameters, "s"))),
        exponent(static_cast<float>(real(problem.parameters, "exponent"))) {
    for (const Tensor& tensor : problem.tensors) {
      if (tensor.role == Role::input) inputs[tensor.name] = floats(tensor);
    }
  }

  float at(const std::string& function, std::size_t i) const {
    const auto in = [&](const char* name) { return inputs.at(name)[i]; };
    if (function == "copy") return in("a");
    if (function == "scale") return s * in("a");
    if (function == "add") return in("a") + in("b");
    if (function == "triad") return std::fma(s, in("b"), in("a"));
    if (function == "mul") return in("a") * in("b");
    if (function == "sqrt") return std::sqrt(in("positive"));
    if (function == "sin") return std::sin(in("a"));
    if (function == "sigmoid") return 1.0F / (1.0F + std::exp(-in("a")));
    if (function == "log10") return std::log10(in("positive"));
    if (function == "pow") return std::pow(in("base"), exponent);
    throw std::invalid_argument(function);
  }

  float s, exponent;
  std::map<std::string, std::span<const float>> inputs;
};

bool accepts(const Expected& expected, std::size_t at, double got) {
  return is_within_tolerance(got, expected.value[at], expected.tolerance[at]);
}

TEST(StreamOracleTest, AcceptsTheHostsOwnSinglePrecisionFunctions) {
  const Problem problem = stream()->make(parameters("all", 4099), 7);
  const FloatFunctions host(problem);
  const std::vector<Expected> expected = stream()->expect(problem);
  ASSERT_THAT(expected, SizeIs(10));
  for (const Expected& output : expected) {
    ASSERT_THAT(output.value, SizeIs(4099));
    for (std::size_t i = 0; i < output.value.size(); ++i) {
      ASSERT_TRUE(accepts(output, i, host.at(output.tensor, i))) << output.tensor << " " << i;
    }
  }
}

TEST(StreamOracleTest, AcceptsThemForSpecialValuesTooAndExpectsNoNan) {
  Values special = parameters("all", 25 * 7 * 12);
  special["values"] = std::string("special");
  const Problem problem = stream()->make(special, 7);
  const FloatFunctions host(problem);
  for (const Expected& output : stream()->expect(problem)) {
    for (std::size_t i = 0; i < output.value.size(); ++i) {
      EXPECT_TRUE(output.tensor == "copy" || !std::isnan(output.value[i]))
          << output.tensor << " " << i;
      const std::size_t at = output.index.empty() ? i : output.index[i];
      EXPECT_TRUE(accepts(output, i, host.at(output.tensor, at)))
          << output.tensor << " " << at << ": " << host.at(output.tensor, at) << " instead of "
          << output.value[i];
    }
  }
}

TEST(StreamOracleTest, ExpectsInfinitiesWhereTheyHaveAValue) {
  Values special = parameters("all", 25 * 7);
  special["values"] = std::string("special");
  for (const Expected& output : stream()->expect(stream()->make(special, 7))) {
    const bool has_one = std::ranges::any_of(output.value, [](double v) { return std::isinf(v); });
    const bool is_finite =
        output.tensor == "sin" || output.tensor == "sigmoid" || output.tensor == "log10";
    EXPECT_TRUE(has_one || is_finite) << output.tensor;
  }
}

TEST(StreamOracleTest, WantsTheBitsOfANanFromACopyAlone) {
  Values special = parameters("all", 25);
  special["values"] = std::string("special");
  const Problem problem = stream()->make(special, 7);
  for (const Expected& output : stream()->expect(problem)) {
    const auto nans = std::ranges::count_if(output.value, [](double v) { return std::isnan(v); });
    EXPECT_EQ(nans, output.tensor == "copy" ? 2 : 0) << output.tensor;
    for (std::size_t i = 0; i < output.value.size() && output.tensor == "copy"; ++i) {
      EXPECT_FALSE(accepts(output, i, std::nanf(""))) << i;
      EXPECT_TRUE(accepts(output, i, floats(problem.tensors.at(0))[i])) << i;
    }
  }
}

TEST(StreamOracleTest, RaisesNegativeNumbersToWholeExponents) {
  for (const double exponent : {3.0, -2.0, 61.0, -1023.0}) {
    Values whole = parameters("pow", 1021);
    whole["exponent"] = exponent;
    const Problem problem = stream()->make(whole, 7);
    const FloatFunctions host(problem);
    const Expected pow = stream()->expect(problem).at(0);
    ASSERT_THAT(pow.value, SizeIs(1021));
    std::size_t negative = 0;
    for (std::size_t i = 0; i < pow.value.size(); ++i) {
      negative += host.inputs.at("base")[i] < 0 ? 1 : 0;
      EXPECT_TRUE(std::isnormal(pow.value[i])) << exponent << " " << i;
      EXPECT_TRUE(accepts(pow, i, host.at("pow", i))) << exponent << " " << i;
    }
    EXPECT_GT(negative, 400U);
  }
}

TEST(StreamOracleTest, RefusesWhatIsSixUlpsOff) {
  const Problem problem = stream()->make(parameters("all", 1000), 3);
  for (const Expected& output : stream()->expect(problem)) {
    for (std::size_t i = 0; i < output.value.size(); ++i) {
      const double off = output.value[i] + 6 * ulp(ElementType::float32, output.value[i]);
      // The triad may cancel: its product's rounding then is many ulps of the small sum.
      if (output.tensor == "triad" && std::abs(output.value[i]) < 16) continue;
      EXPECT_FALSE(accepts(output, i, off)) << output.tensor << " " << i;
    }
  }
}

TEST(StreamOracleTest, ComparesEverythingOfShortOutputsAndEnoughOfLongOnes) {
  EXPECT_THAT(stream()->expect(stream()->make(parameters("copy", 1000), 3))[0].index, IsEmpty());
  const std::int64_t n = (std::int64_t{1} << 20) + 3;
  const Problem problem = stream()->make(parameters("triad", n), 3);
  const Expected triad = stream()->expect(problem).at(0);
  EXPECT_GT(triad.index.size(), 9'000U);
  EXPECT_TRUE(std::ranges::is_sorted(triad.index));
  EXPECT_EQ(triad.index.front(), 0U);
  EXPECT_EQ(triad.index.back(), static_cast<std::size_t>(n - 1));
  EXPECT_THAT(triad.value, SizeIs(triad.index.size()));
  const FloatFunctions host(problem);
  for (std::size_t i = 0; i < triad.index.size(); ++i) {
    EXPECT_TRUE(accepts(triad, i, host.at("triad", triad.index[i])));
  }
}

TEST(StreamOracleTest, MakesLongInputsThatDifferAtEveryDistanceOfAPowerOfTwo) {
  const std::int64_t n = std::int64_t{1} << 20;
  const Problem problem = stream()->make(parameters("copy", n), 3);
  const std::span<const float> a = floats(problem.tensors.at(0));
  ASSERT_THAT(a, SizeIs(n));
  for (std::size_t distance = 1; distance < a.size(); distance *= 2) {
    EXPECT_NE(a[5], a[5 + distance]) << distance;
  }
}

TEST(StreamOracleTest, DrawsOtherScalarsAndInputsFromAnotherSeed) {
  const Problem one = stream()->make(parameters("triad", 100), 1);
  const Problem same = stream()->make(parameters("triad", 100), 1);
  const Problem other = stream()->make(parameters("triad", 100), 2);
  EXPECT_EQ(one.tensors[0].data, same.tensors[0].data);
  EXPECT_EQ(one.parameters, same.parameters);
  EXPECT_NE(one.tensors[0].data, other.tensors[0].data);
  EXPECT_NE(one.parameters.at("s"), other.parameters.at("s"));
}

TEST(StreamOracleTest, CountsEachArrayOnce) {
  EXPECT_EQ(stream()->work(parameters("copy", 100)).compulsory_bytes, 800);
  EXPECT_EQ(stream()->work(parameters("triad", 100)).compulsory_bytes, 1200);
  EXPECT_EQ(stream()->work(parameters("triad", 100)).flops.at("fp32"), 200);
  EXPECT_EQ(stream()->work(parameters("pow", 100)).compulsory_bytes, 800);
}

/// Codes of the known mistakes that give exactly `wrong` for every element.
std::set<std::string> codes_for(const Problem& problem,
                                const std::function<double(std::size_t)>& wrong) {
  std::set<std::string> codes;
  for (const KnownMistake& mistake : stream()->mistakes(problem)) {
    const Expected& output = mistake.outputs.at(0);
    bool same = true;
    for (std::size_t i = 0; i < output.value.size(); ++i) {
      same = same && accepts(output, i, wrong(i));
    }
    if (same) codes.insert(mistake.code.text());
  }
  return codes;
}

TEST(StreamOracleTest, KnowsTheUsualMistakes) {
  const auto made = [](const char* function) {
    return stream()->make(parameters(function, 500), 5);
  };
  const Problem triad = made("triad");
  const FloatFunctions of_triad(triad);
  const std::span<const float> a = of_triad.inputs.at("a");
  const std::span<const float> b = of_triad.inputs.at("b");
  EXPECT_THAT(codes_for(triad, [&](std::size_t i) { return std::fma(of_triad.s, a[i], b[i]); }),
              Contains("RL0440"));
  EXPECT_THAT(codes_for(triad, [&](std::size_t i) { return a[i] + b[i]; }), Contains("RL0441"));
  EXPECT_THAT(codes_for(triad, [&](std::size_t i) { return std::fma(of_triad.s, b[i], a[i]); }),
              IsEmpty());

  const Problem sigmoid = made("sigmoid");
  const std::span<const float> x = floats(sigmoid.tensors.at(0));
  EXPECT_THAT(codes_for(sigmoid, [&](std::size_t i) { return 1 / (1 + std::exp(double{x[i]})); }),
              Contains("RL0442"));

  const Problem log10 = made("log10");
  const std::span<const float> p = floats(log10.tensors.at(0));
  EXPECT_THAT(codes_for(log10, [&](std::size_t i) { return std::log(p[i]); }), Contains("RL0443"));
  EXPECT_THAT(codes_for(log10, [&](std::size_t i) { return std::log2(p[i]); }), Contains("RL0443"));

  const Problem pow = made("pow");
  const FloatFunctions of_pow(pow);
  EXPECT_THAT(codes_for(pow,
                        [&](std::size_t i) {
                          return std::pow(double{of_pow.exponent},
                                          double{of_pow.inputs.at("base")[i]});
                        }),
              Contains("RL0444"));
}

TEST(StreamOracleTest, SaysWhichParameterACaseLacks) {
  EXPECT_THROW(stream()->make({{"n", std::int64_t{3}}}, 1), std::invalid_argument);
  EXPECT_THROW(stream()->make(parameters("cosine", 3), 1), std::invalid_argument);
  EXPECT_THROW(stream()->make(parameters("copy", 0), 1), std::invalid_argument);
}

}  // namespace
}  // namespace rooflab
