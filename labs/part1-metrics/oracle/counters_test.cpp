#include <gtest/gtest.h>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/given_cases_testing.h"

namespace rooflab {
namespace {

std::string told(const Values& parameters, const Values& got, const Values& expected) {
  const auto complaint =
      oracle_registry().at("counters")()->explain({parameters, {}}, got, expected);
  return complaint ? complaint->message.text : "";
}

Values cost(std::int64_t macs, std::int64_t flops, std::int64_t bytes) {
  return {{"macs", macs}, {"flops", flops}, {"bytes", bytes}};
}

Values sizes(const std::string& function, const std::map<std::string, std::int64_t>& numbers) {
  Values values{{"function", function}, {"bytes_per_element", std::int64_t{4}}};
  for (const auto& [name, number] : numbers) values[name] = number;
  return values;
}

TEST(CountersOracleTest, NamesTheArrayThatIsNotCounted) {
  const Values gemm = sizes("gemm_cost", {{"m", 7}, {"n", 5}, {"k", 3}});
  EXPECT_EQ(told(gemm, cost(105, 210, 4 * 36), cost(105, 210, 4 * 71)),
            "C is missing; bytes should be 284, not 144");
  const Values linear =
      sizes("linear_cost", {{"tokens", 3}, {"in_features", 10}, {"out_features", 7}, {"bias", 1}});
  EXPECT_EQ(told(linear, cost(210, 420, 484), cost(210, 441, 512)),
            "the bias is missing; bytes should be 512, not 484");
}

TEST(CountersOracleTest, NamesHowAConvolutionIsMiscounted) {
  const Values padded = sizes("conv2d_cost", {{"batch", 1},
                                              {"in_channels", 64},
                                              {"out_channels", 64},
                                              {"height", 56},
                                              {"width", 56},
                                              {"kernel_height", 3},
                                              {"kernel_width", 3},
                                              {"stride", 1},
                                              {"padding", 1},
                                              {"dilation", 1},
                                              {"groups", 1}});
  const Values right = cost(115605504, 231211008, 1753088);
  EXPECT_EQ(told(padded, cost(111513600, 223027200, 1724672), right),
            "the padding is added on one side only; bytes should be 1753088, not 1724672");
  EXPECT_EQ(told(padded, cost(1, 2, 3), right), "");
}

TEST(CountersOracleTest, KnowsTheResultsOfAllCases) { expect_what_cases_give(1, "counters"); }

}  // namespace
}  // namespace rooflab
