#include "grader/batch/intake/gradescope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

TEST(ParseTime, WantsAZone) {
  EXPECT_EQ(parse_time("2023-11-14 22:13:21.514562000 Z"), 1'700'000'001);
  EXPECT_EQ(parse_time("2023-11-14T14:13:21.365935-08:00"), 1'700'000'001);
  EXPECT_EQ(parse_time("2023-11-15T03:43:21+0530"), 1'700'000'001);
  EXPECT_EQ(parse_time("2024-02-29 00:00:00 UTC"), 1'709'164'800);
  for (const char* none :
       {"", "2023-11-14 22:13:21", "2023-11-14", "2023-02-29T00:00:00Z", "2023-13-01T00:00:00Z",
        "2023-11-14T24:00:00Z", "2023-11-14T22:13:21+99:00", "2023-11-14T22:13:21Z ",
        "2023-1--14T22:13:21Z", "+023-11-14T22:13:21Z"}) {
    EXPECT_EQ(parse_time(none), std::nullopt) << none;
  }
}

TEST(ExportMetadata, IsReadForOneSubmissionAlone) {
  const std::string text =
      "---\nsubmission_11:\n  :created_at: 2023-11-14 22:13:20 Z\n"
      "submission_1:\n  :created_at: !ruby/object:ActiveSupport::TimeWithZone\n"
      "    utc: 2023-11-14 22:13:21 Z\n  :submitters:\n  - :name: Ada\n    :email: [a, b]\n"
      "submission_2: {broken\n";
  const auto record = read_export_metadata(text, "submission_1");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->created_at, 1'700'000'001);
  EXPECT_EQ(record->hints.name, "Ada");
  EXPECT_EQ(record->hints.email, "");
  EXPECT_TRUE(record->partners.empty());
  EXPECT_FALSE(read_export_metadata(text, "submission_2"));
  EXPECT_FALSE(read_export_metadata(text, "submission_3"));
  EXPECT_FALSE(read_export_metadata("", "submission_1"));
}

// Results of tests are in it as well, and with them whatever a submission printed.
TEST(ExportMetadata, WhatTestsSaidIsNotLookedAt) {
  const std::string text =
      "submission_1:\n  :created_at: 2023-11-14 22:13:21 Z\n  :results:\n    :output: |\n"
      "      :submitters: none\n    :deep: " +
      std::string(100'000, '[') + "\n  :submitters:\n  - :name: Ada\n  :history: [broken\n";
  const auto record = read_export_metadata(text, "submission_1");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->created_at, 1'700'000'001);
  EXPECT_EQ(record->hints.name, "Ada");
}

TEST(ExportMetadata, OfADepthOrLengthThatNobodyHasIsNone) {
  const std::string deep = "submission_1: " + std::string(100'000, '[');
  EXPECT_FALSE(read_export_metadata(deep, "submission_1"));
  const auto long_name = read_export_metadata(
      "submission_1:\n  :submitters:\n  - :name: " + std::string(1000, 'a') + "\n", "submission_1");
  ASSERT_TRUE(long_name);
  EXPECT_EQ(long_name->hints.name, "");
}

TEST(AutograderMetadata, ThatIsNoneSaysNothing) {
  for (const char* text : {"", "[]", "{", "null", "\xFF"}) {
    EXPECT_FALSE(read_autograder_metadata(text)) << text;
  }
  const auto odd = read_autograder_metadata(R"({"created_at":7,"users":[7]})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->created_at, std::nullopt);
  EXPECT_FALSE(read_autograder_metadata(std::string(100'000, '[')));
}

}  // namespace
}  // namespace rooflab
