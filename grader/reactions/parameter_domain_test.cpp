#include "grader/reactions/parameter_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

using Numbers = std::map<std::string, std::int64_t>;

Values values(const Numbers& numbers, const std::string& function = "f") {
  Values made{{"function", function}};
  for (const auto& [name, number] : numbers) made[name] = number;
  return made;
}

std::int64_t number_in(const Values& values, const char* name) {
  return std::get<std::int64_t>(values.at(name));
}

TEST(ParameterDomainTest, NumbersStayInTheRangeOfTheCases) {
  const ParameterDomain domain({values({{"m", 7}, {"n", 64}}), values({{"m", 128}, {"n", 5}})});
  EXPECT_TRUE(domain.allows(values({{"m", 9}, {"n", 63}})));
  EXPECT_FALSE(domain.allows(values({{"m", 6}, {"n", 63}})));
  EXPECT_FALSE(domain.allows(values({{"m", 9}, {"n", 65}})));
}

TEST(ParameterDomainTest, ACaseOfItsOwnIsAllowed) {
  const std::vector<Values> cases{values({{"m", 12}, {"n", 4}}), values({{"m", 8}, {"n", 8}}),
                                  values({{"length", 3}}, "g")};
  const ParameterDomain domain(cases);
  for (const Values& one : cases) EXPECT_TRUE(domain.allows(one));
}

TEST(ParameterDomainTest, OtherNamesTextsAndTypesAreOfNoKind) {
  const ParameterDomain domain({values({{"m", 7}}), values({{"m", 128}})});
  EXPECT_FALSE(domain.allows(values({{"n", 9}})));
  EXPECT_FALSE(domain.allows(values({{"m", 9}}, "g")));
  EXPECT_FALSE(domain.allows({{"function", "f"}, {"m", 9.0}}));
  EXPECT_THAT(domain.changeable(values({{"n", 9}})), IsEmpty());
}

TEST(ParameterDomainTest, WhatAllCasesAreMultiplesOfStays) {
  const ParameterDomain domain({values({{"m", 32}}), values({{"m", 80}})});
  EXPECT_TRUE(domain.allows(values({{"m", 48}})));
  EXPECT_FALSE(domain.allows(values({{"m", 40}})));
}

TEST(ParameterDomainTest, RelationsOfAllCasesStay) {
  // keys >= queries, and heads a multiple of groups.
  const ParameterDomain domain(
      {values({{"keys", 10}, {"queries", 1}, {"heads", 6}, {"groups", 2}}),
       values({{"keys", 21}, {"queries", 21}, {"heads", 15}, {"groups", 5}}),
       values({{"keys", 7}, {"queries", 1}, {"heads", 21}, {"groups", 1}})});
  EXPECT_TRUE(domain.allows(values({{"keys", 9}, {"queries", 3}, {"heads", 18}, {"groups", 3}})));
  EXPECT_FALSE(domain.allows(values({{"keys", 9}, {"queries", 18}, {"heads", 18}, {"groups", 3}})));
  EXPECT_FALSE(domain.allows(values({{"keys", 9}, {"queries", 3}, {"heads", 18}, {"groups", 4}})));
}

TEST(ParameterDomainTest, AZeroAndWhatNeverChangesStay) {
  const ParameterDomain domain({values({{"window", 0}, {"m", 3}, {"bytes", 2}}),
                                values({{"window", 8}, {"m", 90}, {"bytes", 2}})});
  const Values off = values({{"window", 0}, {"m", 3}, {"bytes", 2}});
  EXPECT_THAT(domain.changeable(off), ElementsAre(ElementsAre("m")));
  for (const Values& other : domain.elsewhere(off, 20, 1)) {
    EXPECT_EQ(number_in(other, "window"), 0);
    EXPECT_EQ(number_in(other, "bytes"), 2);
  }
}

TEST(ParameterDomainTest, NumbersInAFixedProportionChangeTogether) {
  const ParameterDomain domain(
      {values({{"macs", 50}, {"flops", 100}}), values({{"macs", 7}, {"flops", 14}})});
  const Values here = values({{"macs", 50}, {"flops", 100}});
  ASSERT_THAT(domain.changeable(here), ElementsAre(ElementsAre("flops", "macs")));
  for (const Values& other : domain.with_other(here, {"flops", "macs"}, 10, 3)) {
    EXPECT_EQ(number_in(other, "flops"), 2 * number_in(other, "macs"));
  }
}

TEST(ParameterDomainTest, WhatIsProposedIsAllowedAndDiffers) {
  const std::vector<Values> cases{
      {{"f", "x"}, {"groups", std::int64_t{8}}, {"in", std::int64_t{32}}, {"rate", 2.5e9}},
      {{"f", "x"}, {"groups", std::int64_t{1}}, {"in", std::int64_t{3}}, {"rate", 1e12}},
      {{"f", "x"}, {"groups", std::int64_t{1}}, {"in", std::int64_t{256}}, {"rate", 3e11}}};
  const ParameterDomain domain(cases);
  for (const Values& here : cases) {
    const auto elsewhere = domain.elsewhere(here, 12, 5);
    EXPECT_THAT(elsewhere, Not(IsEmpty()));
    for (const Values& other : elsewhere) EXPECT_TRUE(domain.allows(other)) << text_of(other);
    for (const auto& unit : domain.changeable(here)) {
      const auto others = domain.with_other(here, unit, 3, 9);
      EXPECT_THAT(others, Not(IsEmpty())) << unit.front();
      for (const Values& other : others) {
        EXPECT_TRUE(domain.allows(other)) << text_of(other);
        EXPECT_NE(other, here);
      }
    }
  }
}

TEST(ParameterDomainTest, OneSeedGivesTheSameAndAnotherGivesOthers) {
  const ParameterDomain domain({values({{"m", 1}, {"n", 5000}}), values({{"m", 5000}, {"n", 1}})});
  const Values here = values({{"m", 1}, {"n", 5000}});
  EXPECT_EQ(domain.elsewhere(here, 5, 1), domain.elsewhere(here, 5, 1));
  EXPECT_NE(domain.elsewhere(here, 5, 1), domain.elsewhere(here, 5, 2));
}

TEST(ParameterDomainTest, SmallerParametersAreAllowedAndTheSmallestIsTheLeast) {
  const ParameterDomain domain({values({{"heads", 8}, {"groups", 2}, {"m", 300}}),
                                values({{"heads", 3}, {"groups", 3}, {"m", 4}}),
                                values({{"heads", 4}, {"groups", 1}, {"m", 40}})});
  const Values here = values({{"heads", 8}, {"groups", 2}, {"m", 300}});
  for (const Values& less : domain.smaller(here)) {
    EXPECT_TRUE(domain.allows(less));
    EXPECT_LT(number_in(less, "heads") + number_in(less, "groups") + number_in(less, "m"), 310);
  }
  EXPECT_EQ(domain.smallest(here), values({{"heads", 3}, {"groups", 1}, {"m", 4}}));
}

}  // namespace
}  // namespace rooflab
