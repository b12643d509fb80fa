#include "simgpu/exec/failure_reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace simgpu {
namespace {

using ::testing::HasSubstr;

/// Block 4 of a grid of 3 x 2, whose 3 warps have 8 x 12 threads.
class FailureReporterTest : public ::testing::Test {
 protected:
  FailureReporterTest() {
    kernel_.info.name = "scale";
    kernel_.info.files = std::make_shared<const std::vector<std::string>>(1, "scale.cu");
    kernel_.info.instructions.resize(code_.size());
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      kernel_.info.instructions[i].line = 10 + i;
      code_[i].index = i;
    }
    for (std::size_t i = 0; i < warps_.size(); ++i) {
      warps_[i].index = static_cast<std::uint16_t>(i);
      warps_[i].code = code_.data();
      warps_[i].stack.reset(~0U);
    }
    position_.begin_block(4);
  }
  void wait(std::size_t warp, std::uint32_t barrier, std::uint32_t threads = 0) {
    warps_[warp].state = WarpState::at_barrier;
    warps_[warp].barrier = barrier;
    warps_[warp].barrier_threads = threads;
    warps_[warp].barrier_instruction = &code_[2];
  }
  /// What `end` ends the launch for.
  template <class End>
  LaunchFailure failure_of(End end) {
    try {
      end(FailureReporter(launch_, position_));
    } catch (const LaunchFailure& failure) {
      return failure;
    }
    ADD_FAILURE() << "it goes on";
    return {};
  }

  std::array<Lowered, 4> code_{};
  std::array<Warp, 3> warps_;
  LoweredKernel kernel_;
  LaunchRequest request_ = [] {
    LaunchRequest request;
    request.grid = {3, 2, 1};
    request.block = {8, 12, 1};
    return request;
  }();
  DeviceMemory memory_{1 << 20};
  gpu_spec::GpuSpec gpu_;
  LaunchContext launch_{.kernel = kernel_, .request = request_, .memory = memory_, .gpu = gpu_};
  BlockPosition position_{request_};
};

TEST_F(FailureReporterTest, TellsOfAThreadAndItsInstruction) {
  const LaunchFailure failure = failure_of([&](const FailureReporter& failures) {
    failures.fail(&code_[1], warps_[2], 5,
                  {.code = "RL0311", .message = "It stops", .action = "traps"});
  });
  EXPECT_EQ(failure.status, Code("RL0311").status());
  const Finding& finding = failure.finding;
  EXPECT_EQ(finding.code, Code("RL0311"));
  EXPECT_EQ(finding.kernel, "scale");
  EXPECT_EQ(finding.message, "It stops");
  EXPECT_EQ(finding.where.file, "scale.cu");
  EXPECT_EQ(finding.where.line, 11U);
  EXPECT_EQ(finding.where.block, (Dim3{1, 1, 0}));
  EXPECT_EQ(finding.where.thread, (Dim3{5, 8, 0}));
  EXPECT_EQ(finding.where.warp, 2U);
  EXPECT_EQ(finding.where.action, "traps");
}

TEST_F(FailureReporterTest, AFailureMayHaveAStatusOfItsOwn) {
  const LaunchFailure failure = failure_of([&](const FailureReporter& failures) {
    failures.fail(&code_[0], warps_[0], 0,
                  {.code = "RL0201", .message = "", .status = LaunchStatus::launch_failure});
  });
  EXPECT_EQ(failure.status, LaunchStatus::launch_failure);
}

TEST_F(FailureReporterTest, AWarpThatReadsTheSameIsToldOfAtItsLoad) {
  warps_[0].state = WarpState::done;
  warps_[1].resume = &code_[3];
  const Finding finding =
      failure_of([&](const FailureReporter& failures) { failures.report_stuck(warps_); }).finding;
  EXPECT_EQ(finding.code, Code("RL0307"));
  EXPECT_EQ(finding.where.line, 12U);
  EXPECT_EQ(finding.where.warp, 1U);
  EXPECT_THAT(finding.message, HasSubstr("reads the same value again and again"));
}

TEST_F(FailureReporterTest, AWarpThatSpinsIsToldOfWhereItGoesOn) {
  warps_[0].resume = &code_[3];
  const Finding finding = failure_of([&](const FailureReporter& failures) {
                            failures.report_spinning(warps_);
                          }).finding;
  EXPECT_EQ(finding.code, Code("RL0307"));
  EXPECT_EQ(finding.where.line, 13U);
  EXPECT_THAT(finding.message, HasSubstr("goes round in a loop"));
}

TEST_F(FailureReporterTest, WarpsAtDifferentBarriersWaitForEachOther) {
  wait(1, 2);
  wait(2, 5);
  const Finding finding = failure_of([&](const FailureReporter& failures) {
                            failures.report_deadlock(warps_);
                          }).finding;
  EXPECT_EQ(finding.code, Code("RL0306"));
  EXPECT_EQ(finding.message,
            "No warp of the block can go on: warp 1 waits at barrier 2 while warp 2 waits at "
            "barrier 5");
  EXPECT_EQ(finding.where.action, "waits at barrier 2");
  EXPECT_EQ(finding.where.line, 12U);
}

TEST_F(FailureReporterTest, ABarrierMayExpectMoreThanWillCome) {
  wait(0, 1, 128);
  const Finding finding = failure_of([&](const FailureReporter& failures) {
                            failures.report_deadlock(warps_);
                          }).finding;
  EXPECT_EQ(finding.message,
            "No warp of the block can go on: warp 0 waits at barrier 1, which expects 128 threads, "
            "more than will come");
}

TEST_F(FailureReporterTest, ALaunchOverItsBudgetIsToldOfWithIt) {
  launch_.instruction_budget = 100;
  const LaunchFailure failure = failure_of([&](const FailureReporter& failures) {
    failures.report_over_budget(warps_[0], warps_[0].goes_on_at());
  });
  EXPECT_EQ(failure.status, LaunchStatus::launch_timeout);
  EXPECT_EQ(failure.finding.code, Code("RL0319"));
  EXPECT_EQ(failure.finding.where.line, 10U);
  EXPECT_THAT(failure.finding.message, HasSubstr("the work of 100 warp instructions"));
}

}  // namespace
}  // namespace simgpu
