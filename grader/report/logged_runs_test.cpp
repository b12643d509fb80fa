#include "grader/report/logged_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

LoggedRun run_of(int version) {
  return {.version = version,
          .task = "scale",
          .device = "sim:a100",
          .timed = "1024^3",
          .time_us = 281.5,
          .efficiency = 0.23,
          .limiter = "shared memory",
          .measures = {{"bank conflicts", 31}},
          .counters = {{"smsp__inst_executed.sum", 4096}},
          .files = {{"scale.cu", "__global__ void scale();\n"}}};
}

TEST(LoggedRunsTest, RunsAreReadBackAsTheyWereWritten) {
  const auto runs = logged_runs_in(logged_runs_text({run_of(1), run_of(3)}));
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[1].version, 3);
  EXPECT_EQ(runs[1].task, "scale");
  EXPECT_EQ(runs[1].time_us, 281.5);
  EXPECT_EQ(runs[1].limiter, "shared memory");
  EXPECT_THAT(runs[1].measures, ElementsAre(Pair("bank conflicts", 31)));
  EXPECT_THAT(runs[1].counters, ElementsAre(Pair("smsp__inst_executed.sum", 4096)));
  ASSERT_THAT(runs[1].files, SizeIs(1));
  EXPECT_EQ(runs[1].files[0].text, "__global__ void scale();\n");
}

TEST(LoggedRunsTest, AFileThatIsNoneHoldsNoRuns) {
  for (const std::string& text :
       {std::string(), std::string("runs"), std::string("[]"), std::string("{\"runs\": 3}"),
        "{\"runs\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}",
        logged_runs_text({run_of(1)}) + std::string(2'000'000, ' ')}) {
    EXPECT_THAT(logged_runs_in(text), IsEmpty()) << text.substr(0, 40);
  }
}

TEST(LoggedRunsTest, WhatIsNoRunIsLeftOut) {
  const std::string good = R"({"version": 2, "task": "scale", "time_us": 5})";
  for (const char* bad :
       {"7", R"({"version": 1.5, "task": "scale", "time_us": 5})",
        R"({"version": 0, "task": "scale", "time_us": 5})",
        R"({"version": 100, "task": "scale", "time_us": 5})",
        R"({"version": 1, "task": "scale", "time_us": -5})",
        R"({"version": 1, "task": "scale", "time_us": 1e999})",
        R"({"version": 1, "task": ["scale"], "time_us": 5})", R"({"version": 1, "time_us": 5})",
        R"({"version": 2, "task": "scale", "time_us": 7})"}) {
    const auto runs = logged_runs_in("{\"runs\": [" + good + ", " + std::string(bad) + "]}");
    ASSERT_LE(runs.size(), 1U) << bad;
  }
}

TEST(LoggedRunsTest, NoMoreVersionsAndCountersAreReadThanALogHolds) {
  std::vector<LoggedRun> many;
  for (int version = 1; version <= 40; ++version) many.push_back(run_of(version));
  EXPECT_THAT(logged_runs_in(logged_runs_text(many)), SizeIs(kMostVersions));
  LoggedRun run = run_of(1);
  for (int i = 0; i < 5000; ++i) run.counters["c" + std::to_string(i)] = i;
  EXPECT_LE(logged_runs_in(logged_runs_text({run})).at(0).counters.size(), 300U);
}

TEST(LoggedRunsTest, FilesThatLeadElsewhereOrAreTooLargeAreNotKept) {
  LoggedRun away = run_of(1);
  away.files[0].name = "../../etc/passwd";
  EXPECT_THAT(logged_runs_in(logged_runs_text({away})).at(0).files, IsEmpty());
  LoggedRun large = run_of(1);
  large.files[0].text.assign(kLargestVersion + 1, 'x');
  EXPECT_THAT(logged_runs_in(logged_runs_text({large})).at(0).files, IsEmpty());
  LoggedRun zero = run_of(1);
  zero.files[0].text.assign(3, '\0');
  EXPECT_THAT(logged_runs_in(logged_runs_text({zero})).at(0).files, IsEmpty());
}

TEST(LoggedRunsTest, AHashTellsFilesApartByNameAndText) {
  const std::string one = hash_of({{"a.cu", "x"}, {"b.cu", "y"}});
  EXPECT_THAT(one, SizeIs(16));
  EXPECT_EQ(hash_of({{"a.cu", "x"}, {"b.cu", "y"}}), one);
  EXPECT_NE(hash_of({{"a.cu", "x"}, {"b.cu", "z"}}), one);
  EXPECT_NE(hash_of({{"a.cu", "xb.cu"}, {"", "y"}}), one);
}

}  // namespace
}  // namespace rooflab
