#include "grader/report/since_last_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using testing::HasSubstr;

constexpr const char* kConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";

/// A passed task of one timed case, 25 % of whose wavefronts are conflicts.
TaskResult run_of(double time_us, double dram_multiple) {
  TaskResult task;
  task.score = 20;
  Timing timing;
  timing.name = "1024^3";
  timing.time_us = time_us;
  timing.bytes = 1000;
  timing.dram_bytes.count = 1000 * dram_multiple;
  task.timings.push_back(timing);
  task.counters = {{kConflicts, 250},
                   {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0},
                   {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 900},
                   {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 100}};
  return task;
}

TEST(SinceLastRunTest, NothingIsSaidWhereNothingChanged) {
  EXPECT_FALSE(compare_runs(run_of(1000, 1), run_of(1000, 1), false));
  EXPECT_FALSE(compare_runs(run_of(1000, 1), run_of(1001, 1), false)) << "a tenth of a percent";
  EXPECT_FALSE(compare_runs({}, {}, false));
}

TEST(SinceLastRunTest, TheTimeAndWhatMovedAreTold) {
  const TaskResult before = run_of(9810, 4.2);
  TaskResult now = run_of(1020, 1.1);
  now.counters[kConflicts] = 0;
  now.score = 22.5;
  const auto since = compare_runs(before, now, false);
  ASSERT_TRUE(since);
  EXPECT_EQ(words_of(*since, now, 2),
            "20 -> 22.5 points · 9.81 ms -> 1.02 ms (9.6x faster) · bank conflicts 25 % -> 0 % of "
            "the shared-memory wavefronts · DRAM bytes 4.2x -> 1.1x of the compulsory ones");
  EXPECT_EQ(words_of(*since, now, 0), "20 -> 22.5 points · 9.81 ms -> 1.02 ms (9.6x faster)");
  EXPECT_THAT(since->counters.at(0).meaning, HasSubstr("one more turn"));
}

TEST(SinceLastRunTest, AVerdictAloneIsAChange) {
  TaskResult before;
  before.verdict = Verdict::not_implemented;
  const TaskResult now = run_of(1000, 1);
  const auto since = compare_runs(before, now, false);
  ASSERT_TRUE(since);
  EXPECT_EQ(words_of(*since, now, 2), "not implemented -> pass · 0 -> 20 points");
  EXPECT_FALSE(since->time_us) << "there was none before";
}

TEST(SinceLastRunTest, AnotherTimedCaseIsNotCompared) {
  TaskResult before = run_of(1000, 4);
  before.timings[0].name = "512^3";
  EXPECT_FALSE(compare_runs(before, run_of(5000, 1), false));
}

TEST(SinceLastRunTest, WhatNoiseCanExplainIsNoChange) {
  TaskResult before = run_of(1000, 1);
  before.timings[0].spread_us = 30;
  TaskResult now = run_of(1050, 1);
  now.timings[0].spread_us = 10;
  EXPECT_FALSE(compare_runs(before, now, true));
  now.timings[0].time_us = 1100;
  EXPECT_TRUE(compare_runs(before, now, true));
  EXPECT_FALSE(compare_runs(run_of(1000, 1), run_of(1020, 1), true)) << "2 % of a quiet run";
}

/// Words of two times of which one may be a lower bound.
std::string words_of_times(double before_us, bool before_at_least, double now_us,
                           bool now_at_least) {
  TaskResult before = run_of(before_us, 1);
  before.timings[0].at_least = before_at_least;
  TaskResult now = run_of(now_us, 1);
  now.timings[0].at_least = now_at_least;
  const auto since = compare_runs(before, now, false);
  return since ? words_of(*since, now, 0) : "";
}

TEST(SinceLastRunTest, ATimeThatIsALowerBoundBoundsTheGain) {
  EXPECT_EQ(words_of_times(8000, true, 1000, false),
            ">= 8.00 ms -> 1.00 ms (at least 8.0x faster)");
  EXPECT_EQ(words_of_times(8000, false, 1000, true), "8.00 ms -> >= 1.00 ms (at most 8.0x faster)");
  EXPECT_EQ(words_of_times(1000, false, 8000, true),
            "1.00 ms -> >= 8.00 ms (at least 8.0x slower)");
  EXPECT_EQ(words_of_times(1000, true, 8000, false), ">= 1.00 ms -> 8.00 ms (at most 8.0x slower)");
  EXPECT_EQ(words_of_times(1000, true, 8000, true), "") << "which was longer, nobody knows";
}

TEST(SinceLastRunTest, SlowerIsSaidToo) {
  const TaskResult now = run_of(1200, 1);
  EXPECT_EQ(words_of(*compare_runs(run_of(1000, 1), now, false), now, 2),
            "1.00 ms -> 1.20 ms (1.20x slower)");
}

}  // namespace
}  // namespace rooflab
