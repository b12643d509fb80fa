// A task library built by nvcc, graded on a simulated GPU: the whole way from guest to device and
// back.
#include "grader/device/sim/sim_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "grader/device/sim/sim_device_testing.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Property;
using End = RunOutcome::End;

TEST_F(SimDeviceTest, BringsInputsThereAndOutputsBack) {
  const RunOutcome outcome = run("scale");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_EQ(outcome.cuda_error, "");
  expect_scaled(outcome);
  EXPECT_EQ(outcome.outputs[0], problem_.tensors[0].data) << "inputs are read back too";
  ASSERT_EQ(outcome.activity.kernels.size(), 1U);
  EXPECT_EQ(outcome.activity.kernels[0].grid.x, 8U);
  EXPECT_TRUE(outcome.activity.findings.empty());
}

RunOutcome run_twice(SimDevice& device, const Problem& problem, const std::string& entry) {
  return device.run(request_twice(problem, entry));
}
/// The same of a timed call, where the checkers may take so many instructions.
RunOutcome time_twice(SimDevice& device, const Problem& problem, const std::string& entry,
                      std::uint64_t checked_up_to = 1'000'000) {
  RunRequest request = request_twice(problem, entry);
  request.timed = true;
  request.checked_again_up_to = checked_up_to;
  return device.run(request);
}

TEST_F(SimDeviceTest, AFunctionMayBeCalledAgainWithOtherInputsInItsProcess) {
  const RunOutcome outcome = run_twice(device_, problem_, "scale");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_EQ(outcome.activity.kernels.size(), 1U) << "the records are those of the first call";
  ASSERT_EQ(outcome.fresh.size(), 1U);
  const std::vector<float> x = floats_in(outcome.fresh[0].problem.tensors[0].data);
  const std::vector<float> y = floats_in(outcome.fresh[0].outputs.at(1));
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], 5 * x[i]) << i;
}

TEST_F(SimDeviceTest, OfAFunctionThatWorksOnceTheSecondCallLeavesPoison) {
  const RunOutcome outcome = run_twice(device_, problem_, "scale_once");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  expect_scaled(outcome);
  EXPECT_EQ(outcome.fresh.at(0).outputs.at(1).front(), kPoisonByte);
}

TEST_F(SimDeviceTest, WhatGoesWrongInASecondCallIsTheOutcome) {
  const RunOutcome outcome = run_twice(device_, problem_, "overrun_the_second_time");
  ASSERT_EQ(outcome.activity.findings.size(), 1U);
  EXPECT_EQ(outcome.activity.findings[0].code, simgpu::Code("RL0201"));
  EXPECT_TRUE(outcome.fresh.empty());
}

TEST_F(SimDeviceTest, AFurtherCallHasArraysOfItsOwn) {
  const RunOutcome kept = run_twice(device_, problem_, "scale_where_the_first_call_was");
  ASSERT_EQ(kept.end, End::returned) << kept.detail;
  EXPECT_EQ(kept.fresh.at(0).number, 2);
  EXPECT_EQ(kept.fresh.at(0).outputs.at(1).front(), kPoisonByte);
  EXPECT_TRUE(kept.fresh.at(0).wrote_to_earlier);
  EXPECT_FALSE(run_twice(device_, problem_, "scale").fresh.at(0).wrote_to_earlier);
}

TEST_F(SimDeviceTest, AFurtherCallMayHaveTheArraysOfAnEarlierOne) {
  RunRequest request = request_twice(problem_, "scale_what_is_new");
  EXPECT_NE(device_.run(request).fresh.at(0).outputs.at(1).front(), kPoisonByte);
  request.further = {{.at = 0}};
  EXPECT_EQ(device_.run(request).fresh.at(0).outputs.at(1).front(), kPoisonByte);
}

TEST_F(SimDeviceTest, AFurtherCallMayBeOfAnotherSize) {
  Problem small = problem_;
  small.parameters["n"] = std::int64_t{300};
  for (Tensor& tensor : small.tensors) tensor.shape = {300};
  small.tensors[0].data.resize(300 * sizeof(float));
  const auto run_small_first = [&](const std::string& entry) {
    RunRequest request = request_of(small, entry, "libgpu_tasks.so", std::chrono::seconds(60));
    request.further = {{}, {}, {.at = 0}};
    request.fresh = [&](int index) { return index == 2 ? small : problem_; };
    return device_.run(request);
  };
  const RunOutcome right = run_small_first("scale");
  EXPECT_EQ(right.failed_call, 0);
  ASSERT_EQ(right.fresh.size(), 3U);
  EXPECT_EQ(floats_in(right.fresh[1].outputs.at(1)).back(), 1.5F * (kElements - 1));
  EXPECT_EQ(floats_in(right.fresh[2].outputs.at(1)).back(), 1.5F * 299);
  const RunOutcome wrong = run_small_first("scale_through_a_buffer_of_the_first_size");
  EXPECT_EQ(wrong.failed_call, 2);
  EXPECT_THAT(wrong.activity.findings,
              Contains(Field(&simgpu::Finding::code, simgpu::Code("RL0201"))));
}

TEST_F(SimDeviceTest, FurtherCallsReturnNumbersOfTheirOwn) {
  const auto numbers = [](std::int64_t m) {
    return Problem{{{"m", m}, {"alpha", 3.0}, {"mode", std::string("x")}}, {}};
  };
  const Problem first = numbers(4);
  RunRequest request = request_of(first, "echo", "libhost_tasks.so", std::chrono::seconds(60));
  request.further = {{}, {}};
  request.fresh = [&](int index) { return numbers(10 + index); };
  const RunOutcome outcome = device_.run(request);
  EXPECT_EQ(std::get<std::int64_t>(outcome.results.at("twice")), 8);
  ASSERT_EQ(outcome.fresh.size(), 2U);
  EXPECT_EQ(std::get<std::int64_t>(outcome.fresh[0].results.at("twice")), 20);
  EXPECT_EQ(std::get<std::int64_t>(outcome.fresh[1].results.at("twice")), 22);
}

TEST_F(SimDeviceTest, OfAWholeCallOfAVastProblemIsReadWhatItStored) {
  problem_.vast = true;
  problem_.tensors[0].data.resize(4096);  // whole pages
  problem_.tensors[1].shape = {std::int64_t{1} << 33};
  const RunOutcome outcome = run("scale");
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  ASSERT_EQ(outcome.settled.written.size(), 2U);
  EXPECT_EQ(outcome.settled.written[1],
            (std::vector<simgpu::ByteRange>{{0, kElements * sizeof(float)}}));
  EXPECT_EQ(floats_in(outcome.outputs.at(1)).back(), 1.5F * (kElements - 1));
}

TEST_F(SimDeviceTest, ACheckedCallBehindATimedOneChangesNoTimeAndNoRecord) {
  const RunOutcome timed = run("scale", "libgpu_tasks.so", std::chrono::seconds(60), true);
  const RunOutcome twice = time_twice(device_, problem_, "scale");
  EXPECT_EQ(twice.samples_us, timed.samples_us);
  EXPECT_EQ(twice.activity.kernels.size(), 1U);
  expect_scaled(twice);
  EXPECT_EQ(twice.fresh.size(), 1U);
}

TEST_F(SimDeviceTest, ATimedCallOfMoreWorkThanTheCheckersMayTakeIsNotRepeated) {
  EXPECT_TRUE(time_twice(device_, problem_, "scale", 1).fresh.empty());
}

TEST_F(SimDeviceTest, TheCallBehindATimedOneIsWatched) {
  const RunOutcome outcome = time_twice(device_, problem_, "overrun_the_second_time");
  ASSERT_EQ(outcome.activity.findings.size(), 1U);
  EXPECT_EQ(outcome.activity.findings[0].code, simgpu::Code("RL0201"));
}

TEST_F(SimDeviceTest, WhatATimedCallKeptCountsAsWrittenAndLeaks) {
  const RunOutcome outcome = time_twice(device_, problem_, "scale_through_scratch");
  ASSERT_EQ(outcome.activity.findings.size(), 1U);
  EXPECT_EQ(outcome.activity.findings[0].code, simgpu::Code("RL0309"));
  ASSERT_EQ(outcome.fresh.size(), 1U);
  EXPECT_NE(floats_in(outcome.fresh[0].outputs.at(1)).front(),
            5 * floats_in(outcome.fresh[0].problem.tensors[0].data).front())
      << "the result is made of the inputs of the first call";
}

#ifdef ROOFLAB_CUDA_ROOT
TEST_F(SimDeviceTest, AGuestMayCompileAKernelByNvrtcAndLaunchIt) {
  DeviceOptions with_toolkit = sim_options();
  with_toolkit.cuda_libraries = fs::path(ROOFLAB_CUDA_ROOT) / "lib64";
  SimDevice device("a100", with_toolkit);
  RunRequest request = request_of(problem_, "scale_compiled_at_run_time", "libnvrtc_tasks.so",
                                  std::chrono::seconds(60));
  request.libraries = {"nvrtc"};
  const RunOutcome outcome = device.run(request);
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_EQ(outcome.cuda_error, "");
  expect_scaled(outcome);
  ASSERT_EQ(outcome.activity.kernels.size(), 1U);
  EXPECT_EQ(outcome.activity.kernels[0].name, "scale");
  EXPECT_TRUE(outcome.activity.findings.empty());
  EXPECT_EQ(outcome.activity.given_bytes, 0U) << "nothing had left for the host";
  request.names_built_code_only = true;
  const RunOutcome unnamed = device.run(request);
  expect_scaled(unnamed);
  ASSERT_EQ(unnamed.activity.kernels.size(), 1U);
  EXPECT_EQ(unnamed.activity.kernels[0].name, "a kernel made at run time");
}
#endif

TEST_F(SimDeviceTest, ATaskThatNeedsNvrtcSaysSoWhereThereIsNone) {
  RunRequest request = request_of(problem_, "scale", "libgpu_tasks.so", std::chrono::seconds(60));
  request.libraries = {"nvrtc"};
  const RunOutcome outcome = device_.run(request);
  EXPECT_EQ(outcome.end, End::device_fault);
  EXPECT_THAT(outcome.detail, HasSubstr("this task needs NVRTC"));
  EXPECT_THAT(outcome.detail, HasSubstr("run scripts/setup"));
}

TEST_F(SimDeviceTest, ATimedRunHasTheDevicesOwnTime) {
  const RunOutcome outcome = run("scale", "libgpu_tasks.so", std::chrono::seconds(60), true);
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  ASSERT_EQ(outcome.samples_us.size(), 1U);
  EXPECT_GT(outcome.samples_us[0], 0);
  EXPECT_EQ(outcome.samples_us[0], outcome.activity.elapsed_us);
  EXPECT_EQ(run("scale", "libgpu_tasks.so", std::chrono::seconds(60), true).samples_us,
            outcome.samples_us);
}

/// Of the output, that whole blocks have written.
std::int64_t settled_elements(const RunOutcome& outcome) {
  std::uint64_t bytes = 0;
  for (const simgpu::ByteRange& range : outcome.settled.written.at(1)) bytes += range.bytes;
  return static_cast<std::int64_t>(bytes / sizeof(float));
}

TEST_F(SimDeviceTest, ASampledRunLeavesOutBlocksAndSaysSo) {
  constexpr std::int64_t kMany = std::int64_t{1} << 24;
  for (Tensor& tensor : problem_.tensors) tensor.shape = {kMany};
  problem_.tensors[0].data.assign(kMany * sizeof(float), std::byte{0});
  problem_.parameters["n"] = kMany;
  RunRequest request = request_of(problem_, "scale", "libgpu_tasks.so", std::chrono::seconds(60));
  request.timed = true;
  const RunOutcome whole = device_.run(request);
  request.sampled = true;
  const RunOutcome sampled = device_.run(request);
  ASSERT_EQ(sampled.end, End::returned) << sampled.detail;
  EXPECT_FALSE(whole.sampled);
  EXPECT_TRUE(sampled.sampled);
  const auto written = [](const RunOutcome& outcome) {
    const auto& bytes = outcome.outputs.at(1);  // of a sampled run those alone that it settled
    std::int64_t count = 0;
    for (std::size_t element = 0; element < bytes.size() / sizeof(float); ++element) {
      count += is_poisoned(ElementType::float32, bytes, element) ? 0 : 1;
    }
    return count;
  };
  EXPECT_EQ(written(whole), kMany);
  EXPECT_GT(written(sampled), 0);
  EXPECT_LT(written(sampled), kMany / 2);
  EXPECT_EQ(settled_elements(sampled), written(sampled));
  EXPECT_EQ(sampled.settled.of_grid.at(1), kMany * sizeof(float));
  request.secret = 1;
  const RunOutcome with_another_secret = device_.run(request);
  EXPECT_NE(with_another_secret.settled.written, sampled.settled.written);
  EXPECT_EQ(with_another_secret.samples_us, sampled.samples_us);
  EXPECT_NEAR(sampled.samples_us.at(0), whole.samples_us.at(0), 0.1 * whole.samples_us.at(0));
}

TEST_F(SimDeviceTest, AnOutputThatNobodyWroteStaysPoisoned) {
  const RunOutcome outcome = run("prints");
  ASSERT_EQ(outcome.outputs.size(), 2U);
  EXPECT_TRUE(is_poisoned(ElementType::float32, outcome.outputs[1], 0));
  EXPECT_TRUE(is_poisoned(ElementType::float32, outcome.outputs[1], kElements - 1));
}

TEST_F(SimDeviceTest, ShowsThatAnInputWasWritten) {
  EXPECT_NE(run("scale_in_place").outputs.at(0), problem_.tensors[0].data);
}

TEST_F(SimDeviceTest, CapturesWhatHostAndDevicePrint) {
  const RunOutcome outcome = run("prints");
  EXPECT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_THAT(outcome.printed, HasSubstr("from the host"));
  EXPECT_THAT(outcome.printed + outcome.activity.printed, HasSubstr("thread 1"));
}

TEST_F(SimDeviceTest, TellsAStubByItsPlace) {
  const RunOutcome outcome = run("stub");
  EXPECT_EQ(outcome.end, End::not_implemented);
  EXPECT_EQ(outcome.detail, "launch a kernel");
  EXPECT_THAT(outcome.thrown.file, testing::EndsWith("gpu_tasks.cu"));
  EXPECT_GT(outcome.thrown.line, 0U);
}

TEST_F(SimDeviceTest, TellsExceptionsAndExits) {
  EXPECT_EQ(run("throws", "libhost_tasks.so").end, End::exception);
  EXPECT_EQ(run("exits", "libhost_tasks.so").end, End::exited);
  EXPECT_EQ(run("echo", "libexiting_task.so").end, End::exited);
  EXPECT_EQ(run("crashes", "libhost_tasks.so").end, End::killed);
}

TEST_F(SimDeviceTest, TellsTheErrorThatALaunchLeftBehind) {
  const RunOutcome outcome = run("bad_launch");
  EXPECT_EQ(outcome.end, End::returned);
  EXPECT_EQ(outcome.cuda_error, "cudaErrorInvalidValue");
}

TEST_F(SimDeviceTest, NamesWhatTheLibraryWasBuiltWithWhereItNamesNothingElse) {
  RunRequest request = request_of(problem_, "overrun", "libgpu_tasks.so", std::chrono::seconds(60));
  const RunOutcome open = device_.run(request);
  request.names_built_code_only = true;
  const RunOutcome outcome = device_.run(request);
  ASSERT_FALSE(open.activity.findings.empty());
  ASSERT_EQ(outcome.activity.findings.size(), open.activity.findings.size());
  EXPECT_EQ(outcome.activity.findings[0].kernel, open.activity.findings[0].kernel);
  EXPECT_EQ(outcome.activity.findings[0].where.line, open.activity.findings[0].where.line);
}

TEST_F(SimDeviceTest, TellsWhatTheCheckersFound) {
  const RunOutcome outcome = run("overrun");
  EXPECT_THAT(outcome.activity.findings,
              Contains(Property(&simgpu::Finding::kind, simgpu::FindingKind::out_of_bounds)));
}

TEST_F(SimDeviceTest, EndsAnEndlessKernel) {
  const RunOutcome outcome = run("endless_kernel", "libgpu_tasks.so", std::chrono::seconds(4));
  const bool counted_out = !outcome.activity.error.empty() || !outcome.cuda_error.empty();
  EXPECT_TRUE(outcome.end == End::time_limit || counted_out);
}

TEST_F(SimDeviceTest, SaysOfALoopThatMayEndThatItTakesTooLong) {
  const RunOutcome outcome = run("count_away");
  ASSERT_EQ(outcome.activity.findings.size(), 1U);
  EXPECT_EQ(outcome.activity.findings[0].code, simgpu::Code("RL0319"));
  EXPECT_THAT(outcome.activity.findings[0].message, HasSubstr("modelled ms"));
}

TEST_F(SimDeviceTest, GivesAThreadTheTimeToDoAllOfALargeCaseAlone) {
  const auto told = [&](double flops) {
    RunRequest request =
        request_of(problem_, "count_away", "libgpu_tasks.so", std::chrono::seconds(60));
    request.flops = flops;
    const RunOutcome outcome = device_.run(request);
    return outcome.activity.findings.empty() ? "" : outcome.activity.findings[0].message;
  };
  EXPECT_THAT(told(1e6), HasSubstr("about 100 modelled ms"));
  EXPECT_THAT(told(4e6), HasSubstr("about 160 modelled ms"));
  EXPECT_THAT(told(1e12), HasSubstr("200000000 warp instructions"));
}

TEST_F(SimDeviceTest, BoundsTheTimeOfACallThatTakesTooLong) {
  const auto limit = std::chrono::seconds(1);
  const RunOutcome timed = run("scale_slowly", "libgpu_tasks.so", limit, true);
  ASSERT_EQ(timed.end, End::returned) << timed.detail;
  EXPECT_TRUE(timed.activity.findings.empty());
  EXPECT_EQ(timed.cuda_error, "");
  ASSERT_EQ(timed.activity.kernels.size(), 1U);
  EXPECT_TRUE(timed.activity.kernels[0].at_least);
  EXPECT_FALSE(timed.activity.kernels[0].failed);
  ASSERT_EQ(timed.samples_us.size(), 1U);
  EXPECT_GT(timed.samples_us[0], 10);
  const RunOutcome checked = run("scale_slowly", "libgpu_tasks.so", limit);
  EXPECT_THAT(checked.activity.findings,
              Contains(Field(&simgpu::Finding::code, simgpu::Code("RL0319"))))
      << "an answer needs all blocks";
}

TEST_F(SimDeviceTest, TellsWhatIsFinalOfACallThatWasCutShort) {
  constexpr std::int64_t kMany = 2000 * 128;
  for (Tensor& tensor : problem_.tensors) tensor.shape = {kMany};
  problem_.tensors[0].data.assign(kMany * sizeof(float), std::byte{0x3f});
  problem_.parameters["n"] = kMany;
  const auto limit = std::chrono::seconds(1);
  const RunOutcome once = run("scale_slowly", "libgpu_tasks.so", limit, true);
  ASSERT_EQ(once.settled.written.size(), 2U);
  EXPECT_TRUE(once.settled.written[0].empty()) << "x is an input";
  std::uint64_t written = 0;
  const double x = element_at(ElementType::float32, problem_.tensors[0].data, 0);
  for (const simgpu::ByteRange& range : once.settled.written[1]) written += range.bytes;
  ASSERT_EQ(once.outputs[1].size(), written) << "the final bytes, one after the other";
  for (std::uint64_t at = 0; at < written; at += sizeof(float)) {
    EXPECT_EQ(element_at(ElementType::float32, once.outputs[1], at / sizeof(float)),
              static_cast<float>(3 * x));
  }
  EXPECT_GT(written, 0U);
  EXPECT_EQ(once.settled.of_grid.at(1), kMany * sizeof(float)) << "all blocks write all of it";
  const RunOutcome twice = run("scale_slowly_twice", "libgpu_tasks.so", limit, true);
  EXPECT_TRUE(twice.activity.kernels.at(0).at_least);
  EXPECT_TRUE(twice.settled.written.empty()) << "the launch behind it did not run";
}

TEST_F(SimDeviceTest, AForgedReplyHidesNoEndlessKernel) {
  const RunOutcome outcome = run("forges_a_reply", "libgpu_tasks.so", std::chrono::seconds(4));
  EXPECT_TRUE(outcome.end == End::time_limit || !outcome.activity.error.empty());
}

TEST_F(SimDeviceTest, EndsAnEndlessHostLoop) {
  RunRequest request =
      request_of(problem_, "endless_host", "libgpu_tasks.so", std::chrono::seconds(60));
  request.host_time_limit = std::chrono::seconds(1);
  const RunOutcome outcome = device_.run(request);
  EXPECT_EQ(outcome.end, End::time_limit);
  EXPECT_THAT(outcome.detail, HasSubstr("the host's code computed for 1 s"));
}

TEST_F(SimDeviceTest, EndsAFunctionThatWaitsForEver) {
  const RunOutcome outcome = run("hangs", "libhost_tasks.so", std::chrono::seconds(1));
  EXPECT_EQ(outcome.end, End::time_limit);
  EXPECT_EQ(outcome.detail, "no result after 3 s");  // a wait has longer
}

TEST_F(SimDeviceTest, LeavesAFunctionAloneThatOnlyWaitsForItsTurn) {
  const RunOutcome outcome =
      run("waits_its_turn", "libhost_tasks.so", std::chrono::duration<double>(0.8));
  EXPECT_EQ(outcome.end, End::returned) << outcome.detail;
}

TEST_F(SimDeviceTest, ExplainsAHostDereferenceOfADevicePointer) {
  const RunOutcome outcome = run("dereferences");
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_THAT(outcome.printed, HasSubstr("host code dereferenced device pointer"));
}

TEST_F(SimDeviceTest, ADeviceProcessThatDoesNotStartIsAGraderFault) {
  DeviceOptions broken = sim_options();
  broken.simgpu_device = "/bin/false";
  SimDevice device("a100", broken);
  const RunOutcome outcome =
      device.run(request_of(problem_, "scale", "libgpu_tasks.so", std::chrono::seconds(60)));
  EXPECT_EQ(outcome.end, End::device_fault);
  EXPECT_FALSE(outcome.detail.empty());
}

}  // namespace
}  // namespace rooflab
