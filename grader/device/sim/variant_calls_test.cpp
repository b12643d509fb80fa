// Calls of a library's variants: each does what it says, and none is in the way of another.
#include "grader/device/sim/variant_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "grader/device/sim/sim_device_testing.h"

namespace rooflab {
namespace {

using End = RunOutcome::End;

/// What the first number of a variant of the tasks stands for.
enum Way {
  kOverruns = 1,
  kSpins,
  kThrows,
  kLaunchesTooManyThreads,
  kAborts,
  kExits,
  kLoops,
  kSleeps,
  kCrashes,
  kKeepsAGigabyte,
  kLeavesAStream,
  kCallsWithoutEnd,
  kNeedsThreeGigabytes,
  kCounts,
  kBusy,
};
/// And the second one, of sum_through_scratch.
constexpr int kSkipsElements = 9;

class VariantCallsTest : public SimDeviceTest {
 protected:
  RunRequest request_of_variants(const std::string& entry, std::vector<Variant> variants) {
    RunRequest request =
        request_of(problem_, entry, "libvariant_tasks.so", std::chrono::seconds(60));
    request.variants = std::move(variants);
    request.fresh = [this](int) { return problem_; };
    return request;
  }
  RunOutcome call(const std::string& entry, std::vector<Variant> variants) {
    return device_.run(request_of_variants(entry, std::move(variants)));
  }
  /// By what y = by x is scaled; NaN where the call failed, or not all elements are.
  double factor_of(const VariantCall& call) const {
    if (!call.is_sound || call.outputs.size() != 2) return std::nan("");
    const std::vector<float> x = floats_in(problem_.tensors[0].data);
    const std::vector<float> y = floats_in(call.outputs[1]);
    const float by = y.at(1) / x.at(1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!(y.at(i) == by * x[i])) return std::nan("");
    }
    return by;
  }
  /// The first call is that of the source: it multiplies by the value, which is zero.
  static void expect_first_call(const RunOutcome& outcome) {
    ASSERT_EQ(outcome.outputs.size(), 2U);
    for (const float y : floats_in(outcome.outputs[1])) ASSERT_EQ(y, 0);
  }
  std::vector<double> factors_of(const RunOutcome& outcome) const {
    std::vector<double> factors;
    for (const VariantCall& call : outcome.variant_calls) factors.push_back(factor_of(call));
    return factors;
  }
};

TEST_F(VariantCallsTest, HostAndDeviceSeeTheVariantThatIsChosen) {
  const RunOutcome outcome = call("scale", {{0, 2, 0}, {0, 0, 0.5}, {kThrows, 2, 0}, {0, 7, 0.5}});
  ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_THAT(factors_of(outcome), testing::ElementsAre(2, 0.5, testing::IsNan(), 7));
  EXPECT_GT(outcome.variant_calls[0].warp_instructions, 0U);
}

TEST_F(VariantCallsTest, DeviceCodeMayLookAVariantUpInATable) {
  const RunOutcome outcome =
      call("scale_by_table", {{0, 0, 0}, {2 * 16 + 3, 0, 0}, {5 * 16 + 15, 2 * 16 + 1, 0.25}});
  EXPECT_THAT(factors_of(outcome), testing::ElementsAre(1, 1 + 3, 1 + 1 + 15 + 0.25));
}

TEST_F(VariantCallsTest, ATableThatIsTooSmallForANumberHoldsWhatTheSourceSays) {
  EXPECT_THAT(
      factors_of(call("scale_by_table", {{std::numeric_limits<int>::max(), 3000 * 16 + 1, 0},
                                         {std::numeric_limits<int>::min(), -1, 0}})),
      testing::ElementsAre(1, 1));
}

TEST_F(VariantCallsTest, AManagedVariableTellsDeviceCodeTheVariantToo) {
  EXPECT_THAT(factors_of(call("scale_by_managed", {{0, 2, 0}, {0, 5, 0}})),
              testing::ElementsAre(2, 5));
}

/// The ways in which a variant of the task fails, by its first number.
struct Failure {
  const char* name;
  int way;
  const char* code;
};

class FailingVariant : public VariantCallsTest, public testing::WithParamInterface<Failure> {};

TEST_P(FailingVariant, IsNotInTheWayOfTheOthers) {
  for (const char* entry : {"scale", "scale_through_kept"}) {
    const RunOutcome outcome =
        call(entry, {{0, 2, 0}, {GetParam().way, 2, 0}, {0, 3, 0}, {0, 0, 4}});
    ASSERT_EQ(outcome.end, End::returned) << outcome.detail;
    EXPECT_THAT(factors_of(outcome), testing::ElementsAre(2, testing::IsNan(), 3, 4)) << entry;
    // On a busy machine the clock may end what goes on without end before its work does.
    const std::string code = GetParam().code;
    const std::string of_clock = code == "RL0319" ? "" : code;
    EXPECT_THAT(outcome.variant_calls.at(1).failure_code, testing::AnyOf(code, of_clock));
    expect_first_call(outcome);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, FailingVariant,
    testing::Values(Failure{"AnAccessOutOfBounds", kOverruns, "RL0201"},
                    Failure{"AKernelThatWaitsForNobody", kSpins, "RL0307"},
                    Failure{"ALoopWithoutEnd", kCounts, "RL0319"},
                    Failure{"AnException", kThrows, ""},
                    Failure{"ARefusedLaunch", kLaunchesTooManyThreads, "RL0308"},
                    Failure{"AnAbort", kAborts, ""}, Failure{"AnExit", kExits, ""},
                    Failure{"AHostLoopWithoutEnd", kLoops, ""},
                    Failure{"AWaitWithoutEnd", kSleeps, ""},
                    Failure{"ASegmentationFault", kCrashes, ""},
                    Failure{"ALoopOfCalls", kCallsWithoutEnd, "RL0319"},
                    Failure{"AStreamLeftOpen", kLeavesAStream, ""}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(VariantCallsTest, UncheckedOnesFaultWithoutHarmToo) {
  RunRequest request =
      request_of_variants("scale", {{kOverruns, 2, 0}, {0, 3, 0}, {kSpins, 2, 0}, {0, 0, 0.5}});
  request.variants_checked = false;
  EXPECT_THAT(factors_of(device_.run(request)),
              testing::ElementsAre(testing::IsNan(), 3, testing::IsNan(), 0.5));
}

TEST_F(VariantCallsTest, CheckersFindWhatTheyFindInAnyCall) {
  const std::vector<Variant> variants{{0, 2, 0}, {0, kSkipsElements, 0}, {0, 3, 0}};
  RunRequest request = request_of_variants("sum_through_scratch", variants);
  const RunOutcome checked = device_.run(request);
  ASSERT_EQ(checked.variant_calls.size(), 3U);
  EXPECT_TRUE(checked.variant_calls[0].is_sound) << checked.variant_calls[0].failure_code;
  EXPECT_EQ(checked.variant_calls[1].failure_code, "RL0205");
  EXPECT_TRUE(checked.variant_calls[2].is_sound) << checked.variant_calls[2].failure_code;
  request.variants_checked = false;
  EXPECT_TRUE(device_.run(request).variant_calls.at(1).is_sound);
}

TEST_F(VariantCallsTest, AVariableIsWhatItWasBeforeEveryCall) {
  // The second one leaves a count that the next call would go wrong by.
  EXPECT_THAT(factors_of(call("scale_when_all_are_there", {{0, 0, 0}, {0, 1, 0}, {0, 0, 0}})),
              testing::ElementsAre(2, 2, 2));
}

TEST_F(VariantCallsTest, MemoryThatFailedCallsKeepIsThereForLaterOnes) {
  std::vector<Variant> variants(40, {kKeepsAGigabyte, 2, 0});
  variants.push_back({0, 3, 0});
  variants.push_back({kNeedsThreeGigabytes, 3, 0});
  const RunOutcome outcome = call("scale", variants);
  ASSERT_EQ(outcome.variant_calls.size(), variants.size());
  EXPECT_EQ(outcome.variant_calls.front().failure_code, "RL0201");
  EXPECT_EQ(outcome.variant_calls[39].failure_code, "RL0201");
  EXPECT_EQ(factor_of(outcome.variant_calls[40]), 3);
  EXPECT_EQ(factor_of(outcome.variant_calls[41]), 3);
}

TEST_F(VariantCallsTest, InputsAreDrawnAnewForEachCall) {
  EXPECT_THAT(factors_of(call("scale_in_place", {{0, 2, 0}, {0, 3, 0}})),
              testing::ElementsAre(2, 3));
  RunRequest request = request_of_variants("scale", {{0, 2, 0}, {0, 2, 0}, {0, 2, 0}});
  Problem small = problem_;
  small.parameters["n"] = std::int64_t{300};
  for (Tensor& tensor : small.tensors) tensor.shape = {300};
  small.tensors[0].data.resize(300 * sizeof(float));
  request.fresh = [&](int index) { return index == 1 ? small : problem_; };
  const RunOutcome outcome = device_.run(request);
  ASSERT_EQ(outcome.variant_calls.size(), 3U);
  EXPECT_EQ(factor_of(outcome.variant_calls[0]), 2);
  EXPECT_EQ(outcome.variant_calls[1].outputs.at(1).size(), 300 * sizeof(float));
  EXPECT_EQ(floats_in(outcome.variant_calls[1].outputs[1]).back(), 2 * 149.5F);
  EXPECT_EQ(factor_of(outcome.variant_calls[2]), 2);
}

TEST_F(VariantCallsTest, ABudgetEndsWhatTakesMore) {
  RunRequest request = request_of_variants("scale", {{0, 2, 0}, {0, 3, 0}});
  request.variant_budget = 10;
  EXPECT_THAT(factors_of(device_.run(request)),
              testing::ElementsAre(testing::IsNan(), testing::IsNan()));
  request.variant_budget = 100'000;
  EXPECT_THAT(factors_of(device_.run(request)), testing::ElementsAre(2, 3));
}

TEST_F(VariantCallsTest, ATimeLimitEndsThemAll) {
  RunRequest request = request_of_variants("scale", std::vector<Variant>(1'000'000, {0, 2, 0}));
  request.variants_time_limit = std::chrono::milliseconds(200);
  const RunOutcome outcome = device_.run(request);
  EXPECT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_FALSE(outcome.variant_calls.empty());
  EXPECT_LT(outcome.variant_calls.size(), request.variants.size());
  EXPECT_EQ(factor_of(outcome.variant_calls.front()), 2);
}

TEST_F(VariantCallsTest, HostCodeOfAllTakesMoreThanTheLimitOfACall) {
  RunRequest request = request_of_variants(
      "scale", {{kBusy, 2, 0}, {kBusy, 3, 0}, {kBusy, 4, 0}, {kBusy, 5, 0}, {0, 6, 0}});
  request.host_time_limit = std::chrono::seconds(1);
  EXPECT_THAT(factors_of(device_.run(request)), testing::ElementsAre(2, 3, 4, 5, 6));
}

TEST_F(VariantCallsTest, BehindManyEndedGuestsTheOthersCountAsFailed) {
  std::vector<Variant> variants(12, {kAborts, 2, 0});
  variants.push_back({0, 2, 0});
  const RunOutcome outcome = call("scale", variants);
  ASSERT_EQ(outcome.variant_calls.size(), 13U);
  for (const VariantCall& each : outcome.variant_calls) EXPECT_FALSE(each.is_sound);
}

TEST_F(VariantCallsTest, VariantsFollowAFirstCallThatFails) {
  for (const char* entry : {"overrun_at_first", "abort_at_first"}) {
    const RunOutcome outcome = call(entry, {{0, 2, 0}, {0, 0, 0}, {0, 3, 0}});
    EXPECT_THAT(factors_of(outcome), testing::ElementsAre(2, testing::IsNan(), 3)) << entry;
  }
  EXPECT_EQ(call("abort_at_first", {{0, 2, 0}}).end, End::killed);
}

TEST_F(VariantCallsTest, ATaskOfNumbersReturnsThem) {
  const Problem numbers{{{"a", 1.5}}, {}};
  RunRequest request = request_of(numbers, "add", "libvariant_tasks.so", std::chrono::seconds(60));
  request.variants = {{0, 2, 0}, {kThrows, 2, 0}, {0, 0, 0.25}, {kAborts, 0, 0}, {0, 1, 0}};
  request.fresh = [](int index) { return Problem{{{"a", 10.0 * index}}, {}}; };
  const RunOutcome outcome = device_.run(request);
  EXPECT_EQ(std::get<double>(outcome.results.at("sum")), 1.5);
  ASSERT_EQ(outcome.variant_calls.size(), 5U);
  EXPECT_EQ(std::get<double>(outcome.variant_calls[0].results.at("sum")), 2);
  EXPECT_FALSE(outcome.variant_calls[1].is_sound);
  EXPECT_EQ(std::get<double>(outcome.variant_calls[2].results.at("sum")), 20.25);
  EXPECT_FALSE(outcome.variant_calls[3].is_sound);
  EXPECT_EQ(std::get<double>(outcome.variant_calls[4].results.at("sum")), 41);
}

TEST_F(VariantCallsTest, AFunctionThatIsGivenAStreamIsGivenItByEveryGuest) {
  RunRequest request =
      request_of_variants("scale_on_stream", {{0, 2, 0}, {kAborts, 2, 0}, {0, 3, 0}});
  request.gives_stream = true;
  EXPECT_THAT(factors_of(device_.run(request)), testing::ElementsAre(2, testing::IsNan(), 3));
}

TEST_F(VariantCallsTest, OfALibraryWithoutVariantsAllFail) {
  RunRequest request = request_of_variants("scale", {{0, 2, 0}, {0, 3, 0}});
  request.library = build_folder() / "tests" / "libgpu_tasks.so";
  const RunOutcome outcome = device_.run(request);
  expect_scaled(outcome);
  ASSERT_EQ(outcome.variant_calls.size(), 2U);
  EXPECT_FALSE(outcome.variant_calls[0].is_sound);
  EXPECT_FALSE(outcome.variant_calls[1].is_sound);
}

}  // namespace
}  // namespace rooflab
