#include "performance/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rooflab::performance {
namespace {

using testing::HasSubstr;
using testing::Not;

Table table_of(const Line& line) {
  return {.device = "a GPU",
          .gpu = "h200",
          .time_kind = "measured",
          .versions = "none",
          .copy_gb_per_second = 4300,
          .lines = {line}};
}

Line product() {
  return {.name = "gemm",
          .size = "4096^3",
          .reference = "cuBLAS",
          .goal = 0.85,
          .times = {.solution_us = 200, .reference_us = 180},
          .roofline_us = 150};
}

TEST(TableTest, SaysWhetherAGoalIsReached) {
  EXPECT_THAT(text_of(table_of(product())), HasSubstr("90.0 %    85 %  reached"));
  Line slow = product();
  slow.times.solution_us = 300;
  EXPECT_THAT(text_of(table_of(slow)), HasSubstr("60.0 %    85 %  MISSED"));
  slow.goal = 2;
  EXPECT_THAT(text_of(table_of(slow)), HasSubstr("0.60x   2.00x  MISSED"));
}

TEST(TableTest, ShowsNoTimeOfAWrongResult) {
  Line wrong = product();
  wrong.times.solution_us = 1;
  wrong.mismatch = "element 7 is 0, not 3";
  EXPECT_THAT(text_of(table_of(wrong)), HasSubstr("WRONG: element 7 is 0, not 3\n"));
  EXPECT_THAT(text_of(table_of(wrong)), Not(HasSubstr("reached")));
  const auto row = nlohmann::json::parse(json_of(table_of(wrong))).at("rows").at(0);
  EXPECT_FALSE(row.at("correct"));
  EXPECT_FALSE(row.contains("solution_us"));
}

TEST(TableTest, JudgesNothingWithoutAReferenceOrAtSmallSizes) {
  Line alone = product();
  alone.times.reference_us.reset();
  EXPECT_THAT(text_of(table_of(alone)), HasSubstr("no reference"));
  Table small = table_of(product());
  small.small = true;
  EXPECT_THAT(text_of(small), HasSubstr("too small to judge"));
  EXPECT_THAT(text_of(small), HasSubstr("shows that the program works, and no speed"));
}

TEST(TableTest, NamesWhatTheGpuCannotRun) {
  const Line line{.name = "gemm_wmma, bf16", .left_out = "T4 has no bf16_tensor"};
  EXPECT_THAT(text_of(table_of(line)), HasSubstr("left out: T4 has no bf16_tensor"));
}

}  // namespace
}  // namespace rooflab::performance
