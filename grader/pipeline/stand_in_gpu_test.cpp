// Grades on the CUDA device, with a stand-in for NVIDIA's libraries: all but the GPU is real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "grader/device/cuda/cuda_device.h"
#include "grader/device/testing/scaling.h"
#include "grader/pipeline/grade_fixture.h"

namespace rooflab {
namespace {

using testing::HasSubstr;

/// Says that the same problem takes so many FLOPs that tensor cores would need a third of a second.
class HeavyOracle : public ScaleOracle {
 public:
  Work work(const Values& /*parameters*/) const override { return {{{"fp32", 1e14}}, 0}; }
};

/// Says that the problem takes the pretended A100 256 ms, and 16 ms on its tensor cores.
class LongOracle : public ScaleOracle {
 public:
  Work work(const Values& /*parameters*/) const override { return {{{"fp32", 5e12}}, 0}; }
};

/// y = 2 x over 1000 elements, which the oracle says are 1e9 FLOPs: the pretended A100 would need
/// 51 us for them, and 3 us on its tensor cores.
class StandInGpuTest : public GradeTest {
 protected:
  StandInGpuTest() {
    const Values parameters = {{"n", std::int64_t{1000}}, {"alpha", 2.0}};
    part_.tasks[0].cases.resize(1);
    part_.tasks[0].cases[0].parameters = parameters;
    part_.tasks[0].speeds[0].parameters = parameters;
    part_.tasks[0].speeds[0].zero_efficiency = 0.001;
    part_.tasks[0].time_limit_s = 20;
  }

  template <typename OfWork = ScaleOracle>
  TaskResult grade_entry(const std::string& entry) {
    DeviceOptions options = test_options();
    const std::filesystem::path build = ROOFLAB_BINARY_DIR;
    options.cuda_libraries = options.gpu_locks = build / "tests" / "fake_cuda";
    CudaDevice device(0, options);
    once_opened_();
    part_.tasks[0].entry = entry;
    build_.library = build / "tests" / "libhost_tasks.so";
    const GradeTools tools{
        .device = device,
        .build = [this](const TaskSpec&, const std::vector<SourceFile>&) { return build_; },
        .oracle = [](const std::string&) { return std::make_unique<OfWork>(); },
        .progress = [](const std::string&) {}};
    for (TaskSpec& task : part_.tasks) complete_groups(task);
    return grade(part_, request_, tools).tasks.at(0);
  }

  std::function<void()> once_opened_ = [] {};
};

TEST_F(StandInGpuTest, ATimeByTheGradersOwnClockEarnsItsPoints) {
  const TaskResult task = grade_entry("shrinks_its_time");
  EXPECT_EQ(task.verdict, Verdict::pass) << task.diagnostics.at(0).message;
  EXPECT_GT(task.score, 10);
  EXPECT_LT(task.score, 18);
  const Timing& timing = task.timings.at(0);
  EXPECT_GE(timing.time_us, 5000) << "whatever the guest's events say";
  ASSERT_TRUE(timing.measured);
  EXPECT_EQ(timing.measured->contradicted, timing.measured->samples);
  EXPECT_TRUE(timing.measured->clocks_watched);
}

TEST_F(StandInGpuTest, ATimeThatTensorCoresCouldReachIsANoteForPeople) {
  const TaskResult task = grade_entry<LongOracle>("scale_slowly");
  EXPECT_EQ(task.verdict, Verdict::pass);
  ASSERT_EQ(task.for_people.size(), 1U);
  EXPECT_THAT(task.for_people[0], HasSubstr("less than 256410.26 us, which fp32 arithmetic takes"));
}

TEST_F(StandInGpuTest, ATimeBelowTheFloorIsSuspect) {
  const TaskResult task = grade_entry<HeavyOracle>("scale_slowly");
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 10);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0505"));
}

TEST_F(StandInGpuTest, AResultThatIsKeptByItsAddressIsAWrongAnswer) {
  const TaskResult task = grade_entry("keeps_by_address");
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0420"));
}

TEST_F(StandInGpuTest, AResultThatIsKeptByItsContentsIsSuspect) {
  const TaskResult task = grade_entry("keeps_by_contents");
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_EQ(task.score, 10);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0595"));
}

TEST_F(StandInGpuTest, ATimeThatNobodyCanTellIsNoScore) {
  const TaskResult task = grade_entry("takes_two_times");
  EXPECT_EQ(task.verdict, Verdict::grader_fault);
  EXPECT_EQ(task.max_score, 0);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0902"));
}

TEST_F(StandInGpuTest, MemoryThatAGuestCannotOpenIsNoStudentsFault) {
  once_opened_ = [] { setenv("ROOFLAB_FAKE_CUDA_SHARES_NOTHING", "1", 1); };
  const TaskResult task = grade_entry("scale_on_host");
  unsetenv("ROOFLAB_FAKE_CUDA_SHARES_NOTHING");
  EXPECT_EQ(task.verdict, Verdict::grader_fault);
  EXPECT_EQ(task.max_score, 0);
  const Diagnostic& story = task.diagnostics.at(0);
  EXPECT_EQ(story.code, Code("RL0901"));
  EXPECT_THAT(story.message, HasSubstr("the guest process cannot use the GPU"));
  EXPECT_THAT(story.notes, testing::IsEmpty()) << "there is nothing to look for in the code";
}

TEST_F(StandInGpuTest, AGpuThatIsAlwaysThrottledIsNoStudentsFault) {
  part_.tasks[0].time_limit_s = 3;
  setenv("ROOFLAB_FAKE_NVML_REASONS", "0x40", 1);
  const TaskResult task = grade_entry("shrinks_its_time");
  unsetenv("ROOFLAB_FAKE_NVML_REASONS");
  EXPECT_EQ(task.verdict, Verdict::grader_fault);
  EXPECT_EQ(task.max_score, 0);
  EXPECT_THAT(task.diagnostics.at(0).message, HasSubstr("the GPU was throttled"));
}

}  // namespace
}  // namespace rooflab
