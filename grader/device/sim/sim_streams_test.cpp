// Whether work is ordered with the stream that a function is given, or with the default one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grader/device/sim/sim_device_testing.h"

namespace rooflab {
namespace {

using testing::Contains;

/// Codes of what was found in a call that works on the stream that `on` says, with inputs that
/// arrive on the given one.
class LateInputsTest : public SimDeviceTest {
 protected:
  std::vector<std::string> found(const std::string& on, bool late = true) {
    problem_.parameters["on"] = on;
    RunRequest request =
        request_of(problem_, "scale_on_stream", "libgpu_tasks.so", std::chrono::seconds(60));
    request.gives_stream = true;
    request.late_inputs = late;
    const RunOutcome outcome = device_.run(request);
    EXPECT_EQ(outcome.cuda_error, "");
    expect_scaled(outcome);
    std::vector<std::string> codes;
    for (const simgpu::Finding& finding : outcome.activity.findings)
      codes.push_back(finding.code.text());
    return codes;
  }
};

TEST_F(LateInputsTest, WorkOnTheGivenStreamIsRight) {
  EXPECT_THAT(found("given"), testing::IsEmpty());
  EXPECT_THAT(found("joined"), testing::IsEmpty());
  EXPECT_THAT(found("default, waiting"), testing::IsEmpty());
}

TEST_F(LateInputsTest, WorkThatIsNotOrderedWithItIsFound) {
  EXPECT_THAT(found("default"), Contains("RL0325"));
  EXPECT_THAT(found("never joined"), testing::ElementsAre("RL0325"));
}

TEST_F(LateInputsTest, NothingIsFoundWhereInputsAreThere) {
  EXPECT_THAT(found("default", false), testing::IsEmpty());
}

/// Two calls of late inputs, on two streams.
RunOutcome run_beside(SimDevice& device, Problem& problem, const std::string& entry) {
  problem.parameters["on"] = std::string("given");
  RunRequest request = request_twice(problem, entry);
  request.further.clear();
  request.gives_stream = request.late_inputs = true;
  return device.run(request);
}

TEST_F(SimDeviceTest, ACallOfLateInputsGetsAnotherBesideIt) {
  const RunOutcome outcome = run_beside(device_, problem_, "scale_on_stream");
  expect_scaled(outcome);
  EXPECT_TRUE(outcome.activity.findings.empty());
  ASSERT_EQ(outcome.fresh.size(), 1U);
  EXPECT_TRUE(outcome.fresh[0].is_beside);
  const std::vector<float> x = floats_in(outcome.fresh[0].outputs[0]);
  const std::vector<float> y = floats_in(outcome.fresh[0].outputs[1]);
  EXPECT_EQ(y.back(), 5 * x.back());
}

TEST_F(SimDeviceTest, CallsOnTwoStreamsThatShareAnArrayRace) {
  const RunOutcome outcome = run_beside(device_, problem_, "scale_through_device_array");
  std::vector<std::string> codes;
  for (const simgpu::Finding& finding : outcome.activity.findings)
    codes.push_back(finding.code.text());
  EXPECT_THAT(codes, Contains("RL0315"));
}

/// A call that need not be of late inputs: it may be a timed one, or one of which a part is run.
class HeldToStreamTest : public LateInputsTest, public testing::WithParamInterface<const char*> {
 protected:
  std::vector<std::string> found_off(const std::string& on, bool gives_stream = true) {
    problem_.parameters["on"] = on;
    RunRequest request =
        request_of(problem_, "scale_on_stream", "libgpu_tasks.so", std::chrono::seconds(60));
    request.gives_stream = gives_stream;
    request.holds_to_stream = true;
    request.timed = GetParam() != std::string("untimed");
    request.sampled = GetParam() == std::string("sampled");
    std::vector<std::string> codes;
    for (const simgpu::Finding& finding : device_.run(request).activity.findings) {
      if (finding.kind() != simgpu::FindingKind::leak) codes.push_back(finding.code.text());
    }
    return codes;
  }
};

TEST_P(HeldToStreamTest, WorkOffTheStreamIsFoundAndOtherWorkIsNot) {
  for (const char* right : {"given", "joined", "default, waiting"}) {
    EXPECT_THAT(found_off(right), testing::IsEmpty()) << right;
  }
  EXPECT_THAT(found_off("default"), Contains("RL0325"));
  EXPECT_THAT(found_off("never joined"), testing::ElementsAre("RL0325"));
}

TEST_P(HeldToStreamTest, AFunctionThatGetsNoStreamIsHeldToTheDefaultOne) {
  for (const char* right : {"default", "blocking", "joined"}) {
    EXPECT_THAT(found_off(right, false), testing::IsEmpty()) << right;
  }
  EXPECT_THAT(found_off("own", false), Contains("RL0325"));
  EXPECT_THAT(found_off("never joined", false), testing::ElementsAre("RL0325"));
}

INSTANTIATE_TEST_SUITE_P(Calls, HeldToStreamTest, testing::Values("untimed", "timed", "sampled"));

}  // namespace
}  // namespace rooflab
