#include "grader/pipeline/counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "grader/pipeline/grade_fixture.h"
#include "grader/pipeline/score.h"

// Points for few launches and few DRAM bytes.
namespace rooflab {
namespace {

using simgpu::MemoryOperation;

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

// Between 1 and 8 lie three halvings, so each is worth a third of the points.
TEST(CountPointsTest, EveryHalvingIsWorthTheSame) {
  const CountTarget target{.points = 3, .full = 1, .zero = 8};
  EXPECT_EQ(count_points(target, 100), 0);
  EXPECT_EQ(count_points(target, 8), 0);
  EXPECT_DOUBLE_EQ(count_points(target, 4), 1);
  EXPECT_DOUBLE_EQ(count_points(target, 2), 2);
  EXPECT_EQ(count_points(target, 1), 3);
}

TEST(CountPointsTest, LessThanFullIsFullAndNothingIsNothing) {
  const CountTarget target{.points = 3, .full = 1.1, .zero = 4};
  EXPECT_EQ(count_points(target, 0.2), 3) << "inputs may lie in the L2 cache";
  EXPECT_EQ(count_points(target, 0), 0);
  EXPECT_EQ(count_points(target, -1), 0);
  EXPECT_EQ(count_points(target, std::nan("")), 0);
}

simgpu::KernelRecord kernel(const std::string& name, std::uint64_t read, std::uint64_t written) {
  simgpu::KernelRecord record;
  record.name = name;
  record.time.launch_us = 2.5;
  record.counters.dram_read_bytes = read;
  record.counters.dram_write_bytes = written;
  record.counters.flops["fp32"] = 1'000'000'000;
  return record;
}

simgpu::MemoryRecord memory(MemoryOperation operation, std::uint64_t bytes) {
  simgpu::MemoryRecord record;
  record.operation = operation;
  record.bytes = bytes;
  return record;
}

TEST(DramBytesTest, AreThoseOfKernelsCopiesAndFills) {
  simgpu::Activity activity;
  EXPECT_EQ(dram_bytes(activity), 0);
  activity.kernels = {kernel("a", 100, 10), kernel("b", 1000, 0)};
  activity.memory = {memory(MemoryOperation::copy_on_device, 7), memory(MemoryOperation::set, 5),
                     memory(MemoryOperation::copy_to_device, 3)};
  EXPECT_EQ(dram_bytes(activity), 1110 + 14 + 5 + 3);
}

/// y = 2 x reads and writes each element once; 1e6 FLOPs for each.
class BytesOracle : public ScaleOracle {
 public:
  Work work(const Values& parameters) const override {
    Work work = ScaleOracle::work(parameters);
    work.compulsory_bytes = 8.0 * static_cast<double>(std::get<std::int64_t>(parameters.at("n")));
    return work;
  }
};

/// The timed case takes 8000 bytes at least; 8 points for the time, 3 each for launches and bytes.
class CountsTest : public GradeTest {
 protected:
  CountsTest() {
    oracle_ = [] { return std::make_unique<BytesOracle>(); };
    SpeedSpec& speed = part_.tasks[0].speeds[0];
    speed.name = "timed";
    speed.launches = CountTarget{.points = 3, .full = 1, .zero = 8};
    speed.bytes = CountTarget{.points = 3, .full = 1, .zero = 8};
  }

  TaskResult grade_activity(const std::function<void(simgpu::Activity&)>& change,
                            bool keeps_records = true) {
    return grade_task_with([=](const RunRequest& request) {
      RunOutcome outcome = solve(request);
      outcome.keeps_records = keeps_records;
      if (request.timed) {
        outcome.activity.kernels.clear();
        change(outcome.activity);
      }
      return outcome;
    });
  }
};

TEST_F(CountsTest, OneLaunchThatMovesNoMoreThanItMustEarnsEverything) {
  const TaskResult task = grade_activity([](simgpu::Activity& activity) {
    activity.elapsed_us = 1001;
    activity.kernels = {kernel("scale", 4000, 4000)};
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.max_score, 10 + 8 + 3 + 3);
  EXPECT_EQ(task.score, task.max_score);
  const Timing& timing = task.timings.at(0);
  EXPECT_EQ(timing.launches.count, 1);
  EXPECT_EQ(timing.launches.max_points, 3);
  EXPECT_EQ(timing.dram_bytes.count, 8000);
  EXPECT_EQ(timing.dram_bytes.full, 8000);
  EXPECT_THAT(task.diagnostics, IsEmpty());
}

TEST_F(CountsTest, FourLaunchesAndFourTimesTheBytesEarnAThirdAndAreExplained) {
  const TaskResult task = grade_activity([](simgpu::Activity& activity) {
    activity.kernels = {kernel("add(float*)", 4000, 4000), kernel("add(float*)", 4000, 4000),
                        kernel("add(float*)", 4000, 4000), kernel("tanh(float*)", 4000, 4000)};
  });
  EXPECT_DOUBLE_EQ(task.timings.at(0).launches.points, 1);
  EXPECT_DOUBLE_EQ(task.timings.at(0).dram_bytes.points, 1);
  EXPECT_EQ(task.timings.at(0).kernels, 4U);
  EXPECT_DOUBLE_EQ(task.score, 10 + 6 + 1 + 1);
  ASSERT_EQ(task.diagnostics.size(), 2U);
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0591"));
  EXPECT_EQ(task.diagnostics[0].message,
            "4 launches where one kernel can do it: each costs about 2.5 us, and what one kernel "
            "leaves for the next crosses memory twice");
  EXPECT_THAT(task.diagnostics[0].evidence, Contains("launched: add 3 times, tanh once"));
  EXPECT_EQ(task.diagnostics[1].code, Code("RL0592"));
  EXPECT_THAT(task.diagnostics[1].message,
              HasSubstr("31.2 KiB cross DRAM where 7.81 KiB must, 4.00 times as many"));
  EXPECT_THAT(task.diagnostics[1].evidence, Contains("add, launched 3 times: 23.4 KiB"));
}

TEST_F(CountsTest, AGraphIsOneLaunchOfManyKernels) {
  const TaskResult task = grade_activity([](simgpu::Activity& activity) {
    for (int i = 0; i < 5; ++i) {
      activity.kernels.push_back(kernel("node", 800, 800));
      activity.kernels.back().graph_launch = 1;
    }
  });
  EXPECT_EQ(task.timings.at(0).launches.count, 1);
  EXPECT_EQ(task.timings.at(0).kernels, 5U);
  EXPECT_EQ(task.timings.at(0).launches.points, 3);
}

TEST_F(CountsTest, BytesThatTheCacheHeldAreNotAskedFor) {
  const TaskResult task = grade_activity(
      [](simgpu::Activity& activity) { activity.kernels = {kernel("scale", 100, 0)}; });
  EXPECT_EQ(task.timings.at(0).dram_bytes.points, 3);
}

TEST_F(CountsTest, WhereNothingIsAskedForCountsAreShownAndEarnNothing) {
  SpeedSpec& speed = part_.tasks[0].speeds[0];
  speed.launches.reset();
  speed.bytes.reset();
  const TaskResult task = grade_activity([](simgpu::Activity& activity) {
    activity.kernels = {kernel("a", 9000, 9000), kernel("b", 9000, 9000)};
  });
  EXPECT_EQ(task.score, 16);
  EXPECT_EQ(task.timings.at(0).launches.count, 2);
  EXPECT_EQ(task.timings.at(0).dram_bytes.count, 36000);
  EXPECT_THAT(task.diagnostics, IsEmpty());
}

TEST_F(CountsTest, ADeviceWithoutRecordsGivesThesePointsByTheTime) {
  const TaskResult task = grade_activity([](simgpu::Activity&) {}, false);
  // Half of the roofline is three of four halvings from 1/16 to 1.
  EXPECT_DOUBLE_EQ(task.timings.at(0).launches.points, 2.25);
  EXPECT_DOUBLE_EQ(task.timings.at(0).dram_bytes.points, 2.25);
  EXPECT_FALSE(task.timings.at(0).launches.count.has_value());
  EXPECT_DOUBLE_EQ(task.score, 10 + 6 + 4.5);
}

TEST_F(CountsTest, TimeMayEarnNothingWhileCountsDo) {
  part_.tasks[0].speeds[0].points = 0;
  const TaskResult task = grade_activity(
      [](simgpu::Activity& activity) { activity.kernels = {kernel("scale", 4000, 4000)}; });
  EXPECT_EQ(task.max_score, 16);
  EXPECT_EQ(task.score, 16);
  EXPECT_EQ(task.timings.at(0).target_efficiency, 0) << "no report asks for a time";
}

// What a submission might try to have few launches or bytes without doing its work.

TEST_F(CountsTest, LaunchingNothingGainsNothing) {
  const TaskResult task = grade_activity([](simgpu::Activity& activity) {
    activity.memory = {memory(MemoryOperation::copy_to_device, 4000)};
    activity.api_calls = {{"cudaMemcpy", 1}};
  });
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_LE(task.score, 10);
}

TEST_F(CountsTest, ACopyIsNoLaunch) {
  oracle_ = [] {
    class CopyOracle : public BytesOracle {
      Work work(const Values& parameters) const override {
        return {{}, BytesOracle::work(parameters).compulsory_bytes};
      }
    };
    return std::make_unique<CopyOracle>();
  };
  const TaskResult task = grade_activity([](simgpu::Activity& activity) {
    activity.memory = {memory(MemoryOperation::copy_on_device, 4000)};
    activity.api_calls = {{"cudaMemcpy", 1}};
  });
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.timings.at(0).launches.points, 0);
  EXPECT_EQ(task.timings.at(0).dram_bytes.points, 3) << "each byte is read and written once";
  EXPECT_THAT(task.diagnostics, Contains(Field(&Diagnostic::code, Code("RL0591"))));
}

TEST_F(CountsTest, NoBytesAtAllEarnNothing) {
  const TaskResult task = grade_activity(
      [](simgpu::Activity& activity) { activity.kernels = {kernel("scale", 0, 0)}; });
  EXPECT_EQ(task.timings.at(0).dram_bytes.points, 0);
}

TEST_F(CountsTest, ATimeBelowTheFloorIsSuspectWhateverTheCountsAre) {
  const TaskResult task = grade_activity([](simgpu::Activity& activity) {
    activity.elapsed_us = 10;
    activity.kernels = {kernel("scale", 4000, 4000)};
  });
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 10);
  EXPECT_EQ(task.timings.at(0).launches.points, 0);
  EXPECT_EQ(task.timings.at(0).dram_bytes.points, 0);
}

TEST_F(CountsTest, MoreThanTheDeviceRecordsEarnsNothing) {
  part_.tasks[0].speeds[0].launches->zero = 1e6;
  const TaskResult task = grade_activity([](simgpu::Activity& activity) {
    activity.kernels.assign(simgpu::kMostRecords, kernel("empty", 0, 0));
  });
  EXPECT_EQ(task.timings.at(0).launches.points, 0);
  EXPECT_EQ(task.timings.at(0).dram_bytes.points, 0);
}

TEST_F(CountsTest, MemoryIsShownWhereACaseAsksAndTheDeviceKnows) {
  part_.tasks[0].cases[0].shows_memory = true;
  part_.tasks[0].speeds[0].shows_memory = true;
  const auto grade = [&](bool keeps_records) {
    return grade_task_with([=](const RunRequest& request) {
      RunOutcome outcome = solve(request);
      outcome.keeps_records = keeps_records;
      for (const Tensor& tensor : request.problem->tensors) {
        outcome.activity.peak_allocated += tensor.bytes();
      }
      outcome.activity.peak_allocated += 4096;
      return outcome;
    });
  };
  const TaskResult simulated = grade(true);
  EXPECT_EQ(simulated.cases.at(0).peak_memory, 4096U);
  EXPECT_FALSE(simulated.cases.at(1).peak_memory.has_value()) << "not asked for";
  EXPECT_EQ(simulated.timings.at(0).peak_memory, 4096U);
  EXPECT_FALSE(grade(false).cases.at(0).peak_memory.has_value());
}

}  // namespace
}  // namespace rooflab
