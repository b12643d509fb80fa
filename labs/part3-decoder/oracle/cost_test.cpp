#include <gtest/gtest.h>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/given_cases_testing.h"

namespace rooflab {
namespace {

/// What is told of the small layer of part.toml, whose right cost is 16320 MACs, 40900 FLOPs and
/// 31552 bytes, when the counts are off by so much.
std::string told(const std::string& function, std::int64_t macs, std::int64_t flops,
                 std::int64_t bytes) {
  Values parameters{{"function", function}};
  const std::map<std::string, std::int64_t> numbers{
      {"hidden", 12},    {"intermediate", 20},    {"query_heads", 6}, {"key_value_heads", 2},
      {"head_dim", 4},   {"window", 3},           {"batch", 2},       {"query_length", 5},
      {"key_length", 9}, {"bytes_per_element", 4}};
  for (const auto& [name, number] : numbers) parameters[name] = number;
  const Values right{{"macs", std::int64_t{16320}},
                     {"flops", std::int64_t{40900}},
                     {"bytes", std::int64_t{31552}}};
  const Values got{{"macs", 16320 + macs}, {"flops", 40900 + flops}, {"bytes", 31552 + bytes}};
  const auto complaint = oracle_registry().at("cost")()->explain({parameters, {}}, got, right);
  return complaint ? complaint->message.text.substr(0, complaint->message.text.find(';')) : "";
}

TEST(CostOracleTest, NamesTheKernelsThatAreMissingFromALayer) {
  EXPECT_EQ(told("layer_cost", 0, -40 * 23 * 2, -(48 * 2 * 20 + 16 + 4 * 8 * 20 + 16)),
            "the norm over each query head and the norm over each key head are missing");
  EXPECT_EQ(told("layer_cost", 0, -120, -4 * 360), "one of the two residual additions is missing");
  EXPECT_EQ(told("layer_cost", -960, -1920, -4 * (120 + 96 + 80)),
            "the projection to keys or the projection to values is missing");
  EXPECT_EQ(told("layer_cost", 0, 3 * 10 * 8, 4 * 2 * 10 * 8),
            "the rotation of the keys is counted twice");
  EXPECT_EQ(told("layer_cost", 0, 1, 0), "");
}

TEST(CostOracleTest, KnowsTheResultsOfAllCases) { expect_what_cases_give(3, "cost"); }

}  // namespace
}  // namespace rooflab
