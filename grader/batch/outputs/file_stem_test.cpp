#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "grader/batch/outputs/sample_class_testing.h"
#include "grader/batch/outputs/write_outputs.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;

TEST(FileStem, IsTheKeyWhereThatIsSafe) {
  for (const char* key : {"ada", "student-17", "a.b_c", "700123"}) EXPECT_EQ(file_stem(key), key);
}

TEST(FileStem, IsOneSafeNameForEachKey) {
  std::vector<std::string> keys = hostile_texts();
  for (const char* key : {"Ada", "ada", "ADA", "a/b", "a_b", "..", ".", ".hidden", "-rf", "con",
                          "nul.txt", "com1", "ada.", "a b", "ada@example.org", "größe", "grösse"}) {
    keys.emplace_back(key);
  }
  for (const std::string& key : hostile_texts()) keys.push_back(key + "x");
  keys.push_back(file_stem("Ada"));  // somebody may take a made name for a key
  static const Pattern kSafe("[a-z0-9_][a-z0-9._-]{0,40}(~[0-9a-f]{32})?|[a-z0-9._-]{1,80}");
  std::set<std::string> stems;
  for (const std::string& key : std::set(keys.begin(), keys.end())) {
    const std::string stem = file_stem(key);
    EXPECT_TRUE(kSafe.fits(stem)) << stem;
    EXPECT_NE(stem.front(), '.');
    EXPECT_TRUE(stems.insert(stem).second) << stem;
  }
  for (const char* reserved : {"con", "nul.txt", "com1", "ada."}) {
    EXPECT_THAT(file_stem(reserved), HasSubstr("~"));
  }
}

}  // namespace
}  // namespace rooflab
