#include <gtest/gtest.h>

#include "grader/contract/oracle.h"

namespace rooflab {
namespace {

std::string told(const Values& parameters, const Values& got, const Values& expected) {
  const auto complaint = oracle_registry().at("model")()->explain({parameters, {}}, got, expected);
  return complaint ? complaint->message.text : "";
}

TEST(ModelOracleTest, TellsASmallestSizeThatIsRoundedDown) {
  const Values parameters{{"function", std::string("smallest_compute_bound_gemm")}};
  EXPECT_EQ(told(parameters, {{"n", std::int64_t{151}}}, {{"n", std::int64_t{152}}}),
            "the bound is rounded down, or to the nearest: this N is still memory-bound; n should "
            "be 152 and is 151");
  EXPECT_EQ(told(parameters, {{"n", std::int64_t{76}}}, {{"n", std::int64_t{152}}}), "");
}

TEST(ModelOracleTest, TellsTheBandwidthThatARoofWasComputedWith) {
  const Values triad{{"function", std::string("limiting_roof")},
                     {"flops_per_second", 19.5e12},
                     {"bytes_per_second", 1.555e12},
                     {"l2_bytes_per_second", 7.219e12},
                     {"flops", std::int64_t{134217728}},
                     {"l2_traffic", std::int64_t{805306368}},
                     {"dram_traffic", std::int64_t{805306368}}};
  const Values right{{"roof", std::string("dram")}};
  EXPECT_EQ(told(triad, {{"roof", std::string("l2")}}, right),
            "this is the roof if the L2's bytes crossed at DRAM's bandwidth; roof should be "
            "\"dram\" and is \"l2\"");
  EXPECT_EQ(told(triad, {{"roof", std::string("compute")}}, right),
            "this is the roof that takes the shortest time; roof should be \"dram\" and is "
            "\"compute\"");
}

}  // namespace
}  // namespace rooflab
