#include <gmock/gmock.h>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/given_cases_testing.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;

std::string told(const Values& parameters, const Values& got, const Values& expected) {
  const auto complaint = oracle_registry().at("model")()->explain({parameters, {}}, got, expected);
  return complaint ? complaint->message.text : "";
}

TEST(ModelOracleTest, TellsASmallestSizeThatIsRoundedDown) {
  const Values parameters{{"function", std::string("smallest_compute_bound_gemm")}};
  EXPECT_EQ(told(parameters, {{"n", std::int64_t{151}}}, {{"n", std::int64_t{152}}}),
            "the bound is rounded down, or to the nearest: this N is still memory-bound; n should "
            "be 152, not 151");
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
            "\"dram\", not \"l2\"");
  EXPECT_EQ(told(triad, {{"roof", std::string("compute")}}, right),
            "this is the roof that takes the shortest time; roof should be \"dram\", not "
            "\"compute\"");
}

TEST(ModelOracleTest, TellsWhichFlopsAUtilisationWasTakenFrom) {
  // On a GPU of 100 FLOP/s and 10 B/s: 20 FLOPs and 5 bytes are needed, and 40 FLOPs executed in a
  // second.
  const Values run{{"function", std::string("utilisation")},
                   {"flops_per_second", 100.0},
                   {"bytes_per_second", 10.0},
                   {"flops", std::int64_t{20}},
                   {"bytes", std::int64_t{5}},
                   {"executed", std::int64_t{40}},
                   {"seconds", 1.0}};
  const auto shares = [](double model, double hardware, double bandwidth) {
    return Values{{"model_flops", model}, {"hardware_flops", hardware}, {"bandwidth", bandwidth}};
  };
  const Values right = shares(0.2, 0.4, 0.5);
  EXPECT_EQ(told(run, shares(0.4, 0.4, 0.5), right),
            "model FLOPs utilisation is taken from the executed FLOPs; model_flops should be 0.2, "
            "not 0.4");
  EXPECT_THAT(told(run, shares(0.2, 0.2, 0.5), right), HasSubstr("taken from the needed FLOPs"));
  EXPECT_THAT(told(run, shares(0.4, 0.2, 0.5), right), HasSubstr("swapped"));
  EXPECT_THAT(told(run, shares(0.5, 0.4, 0.5), right), HasSubstr("not a share of the peak"));
  EXPECT_THAT(told(run, shares(20 / 40.0, 40 / 40.0, 0.5), right), HasSubstr("not of the peak"));
  EXPECT_THAT(told(run, shares(0.2, 0.4, 0.05), right), HasSubstr("peak in FLOP/s"));
  EXPECT_EQ(told(run, shares(0.1, 0.4, 0.5), right), "");
}

TEST(ModelOracleTest, KnowsTheResultsOfAllCases) { expect_what_cases_give(2, "model"); }

}  // namespace
}  // namespace rooflab
