#include "labs/oracle_support/wrong_results.h"

#include <gtest/gtest.h>

namespace rooflab {
namespace {

const Values kRight{{"flops", std::int64_t{100}}, {"bytes", std::int64_t{60}}};
const std::vector<Term> kTerms{{"the query norm", {{"flops", 10}, {"bytes", 4}}},
                               {"the key norm", {{"flops", 5}, {"bytes", 2}}},
                               {"the first residual", {{"flops", 7}, {"bytes", 6}}},
                               {"the second residual", {{"flops", 7}, {"bytes", 6}}},
                               {"the cache", {{"bytes", 9}}}};

std::string told(std::int64_t flops, std::int64_t bytes) {
  const auto complaint = explained_by_terms({{"flops", flops}, {"bytes", bytes}}, kRight, kTerms);
  return complaint ? complaint->message.text : "";
}

TEST(TermsTest, OneThatIsMissingOrThereTwiceIsNamed) {
  EXPECT_EQ(told(90, 56), "the query norm is missing; bytes should be 60, not 56");
  EXPECT_EQ(told(110, 64), "the query norm is counted twice; bytes should be 60, not 64");
  EXPECT_EQ(told(100, 51), "the cache is missing; bytes should be 60, not 51");
}

TEST(TermsTest, ThoseThatAddTheSameAreNamedTogether) {
  EXPECT_EQ(told(93, 54),
            "the first residual or the second residual is missing; bytes should be 60, not 54");
}

TEST(TermsTest, TwoMayBeMissing) {
  EXPECT_EQ(told(85, 54),
            "the query norm and the key norm are missing; bytes should be 60, not 54");
}

TEST(TermsTest, NumbersAndNamesOfOneCaseAreNotPublic) {
  const auto in_public = [](const Sentence& name) {
    const std::vector<Term> terms{{"the query norm", {{"flops", 10}, {"bytes", 4}}},
                                  {name, {{"flops", 5}, {"bytes", 2}}}};
    const Values got{{"flops", std::int64_t{85}}, {"bytes", std::int64_t{54}}};
    return explained_by_terms(got, kRight, terms).value().message.in_public;
  };
  EXPECT_EQ(in_public("the key norm"), "the query norm and the key norm are missing");
  EXPECT_EQ(in_public("what kernel " + std::to_string(7) + " reads"), "");
}

TEST(TermsTest, ATermHasToExplainEveryTotal) {
  EXPECT_EQ(told(90, 60), "");
  EXPECT_EQ(told(99, 60), "");
  EXPECT_FALSE(explained_by_terms({{"flops", std::int64_t{90}}}, kRight, kTerms));
}

TEST(SlipsTest, AreFoundByAllTheyMake) {
  const std::vector<ResultSlip> slips{
      {{{"flops", std::int64_t{50}}, {"bytes", std::int64_t{60}}}, "RL0406", "these are MACs", ""},
      {{{"roof", std::string("l2")}}, "RL0407", "the L2 at DRAM's speed", ""}};
  const auto cause = [&](const Values& got, const Values& right) {
    const auto complaint = explained_by_slips(got, right, slips);
    return complaint ? complaint->message.text : "";
  };
  EXPECT_EQ(cause({{"flops", std::int64_t{50}}, {"bytes", std::int64_t{60}}}, kRight),
            "these are MACs; flops should be 100, not 50");
  EXPECT_EQ(cause({{"flops", std::int64_t{50}}, {"bytes", std::int64_t{61}}}, kRight), "");
  EXPECT_EQ(cause({{"roof", std::string("l2")}}, {{"roof", std::string("dram")}}),
            "the L2 at DRAM's speed; roof should be \"dram\", not \"l2\"");
}

}  // namespace
}  // namespace rooflab
