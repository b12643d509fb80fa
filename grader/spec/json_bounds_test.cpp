#include "grader/spec/json_bounds.h"

#include <gtest/gtest.h>

#include <string>

namespace rooflab {
namespace {

std::string nested(std::size_t depth, const std::string& open, const std::string& close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(JsonBoundsTest, SixtyFourLevelsAreNotTooDeepAndOneMoreIs) {
  EXPECT_FALSE(json_nests_too_deep(nested(64, "[", "]")));
  EXPECT_TRUE(json_nests_too_deep(nested(65, "[", "]")));
  EXPECT_TRUE(json_nests_too_deep(nested(65, "{\"a\":", "}")));
  EXPECT_TRUE(json_nests_too_deep(std::string(65, '[')));
}

TEST(JsonBoundsTest, ListsBesideEachOtherAreNotWithinEachOther) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[{}],";
  EXPECT_FALSE(json_nests_too_deep(text + "[]]"));
  EXPECT_FALSE(json_nests_too_deep(std::string(1000, ']')));
}

TEST(JsonBoundsTest, BracketsInStringsAreText) {
  EXPECT_FALSE(json_nests_too_deep("[\"" + std::string(1000, '[') + "\"]"));
  EXPECT_FALSE(json_nests_too_deep("[\"\\\"" + std::string(1000, '[') + "\"]"));
  EXPECT_TRUE(json_nests_too_deep("[\"\\\\\"" + std::string(1000, '[')));
}

}  // namespace
}  // namespace rooflab
