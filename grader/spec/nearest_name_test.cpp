#include "grader/spec/nearest_name.h"

#include <gtest/gtest.h>

namespace rooflab {
namespace {

TEST(NearestName, IsTheOneThatIsFewestLettersAway) {
  const std::set<std::string> known{"due", "extension", "grace_minutes", "step"};
  EXPECT_EQ(nearest_name("grace_minuts", known), "grace_minutes");
  EXPECT_EQ(nearest_name("extention", known), "extension");
  EXPECT_EQ(nearest_name("steps", known), "step");
  EXPECT_EQ(nearest_name("duo", known), "due");
  EXPECT_EQ(nearest_name("pionts", {"hints", "points"}), "points") << "a swap is one change";
}

TEST(NearestName, IsNoneWhereNoneIsNear) {
  const std::set<std::string> known{"due", "extension"};
  EXPECT_EQ(nearest_name("penalty", known), "");
  EXPECT_EQ(nearest_name("", known), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'd'), known), "");
}

}  // namespace
}  // namespace rooflab
