#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <optional>

#include "grader/contract/oracle.h"

namespace rooflab {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr std::int64_t kWarmup = 4;
constexpr std::int64_t kRepeat = 10;
constexpr std::int64_t kLaunchesPerCall = 2;
constexpr double kKernelMicroseconds = 50;
constexpr std::int64_t kSteps = 1000;
constexpr std::int64_t kColdFactor = 5;
constexpr std::uint64_t kFlopsOfALoad = 2 * 32 * kSteps;  // a multiply-add in each lane of a warp

/// A device's record of a proper measurement: the first call takes five times as long.
simgpu::Activity measurement(std::int64_t calls) {
  simgpu::Activity activity;
  double now = 100;
  for (std::int64_t i = 0; i < calls * kLaunchesPerCall; ++i) {
    simgpu::KernelRecord kernel;
    kernel.name = "rooflab_benchmark_load(long, float*)";
    kernel.sequence = static_cast<std::uint64_t>(i);
    kernel.start_us = now;
    const std::int64_t factor = i < kLaunchesPerCall ? kColdFactor : 1;
    kernel.time.total_us = static_cast<double>(factor) * kKernelMicroseconds;
    kernel.counters.flops["fp32"] = kFlopsOfALoad * static_cast<std::uint64_t>(factor);
    now += kernel.time.total_us;
    activity.kernels.push_back(kernel);
  }
  activity.api_calls["cudaEventElapsedTime"] = 2 * kRepeat;  // the adapter's half of them
  return activity;
}

Problem latency_problem() {
  return {{{"function", std::string("benchmark_latency")},
           {"n_warmup", kWarmup},
           {"n_repeat", kRepeat},
           {"launches_per_call", kLaunchesPerCall},
           {"steps", kSteps},
           {"further_steps", std::int64_t{0}},
           {"cold_calls", std::int64_t{1}},
           {"cold_factor", kColdFactor}},
          {}};
}

std::vector<std::string> codes(const Problem& problem, const CallEvidence& evidence) {
  const auto benchmark = oracle_registry().at("benchmark")();
  std::vector<std::string> codes;
  for (const Complaint& complaint : benchmark->judge(problem, evidence)) {
    codes.push_back(complaint.code.text());
  }
  return codes;
}

std::vector<std::string> latency_codes(double milliseconds,
                                       const simgpu::Activity& activity = measurement(kWarmup +
                                                                                      kRepeat)) {
  return codes(latency_problem(), {{{"mean", milliseconds}}, activity, true});
}

TEST(LatencyTest, AcceptsTheMeanOfTheTimedCalls) { EXPECT_THAT(latency_codes(0.100), IsEmpty()); }

TEST(LatencyTest, AsksNoSpreadOfCallsOfOneLength) {
  CallEvidence evidence{{{"mean", 0.1}, {"standard_deviation", -7.0}, {"median", std::nan("")}},
                        measurement(kWarmup + kRepeat),
                        true};
  EXPECT_THAT(codes(latency_problem(), evidence), IsEmpty());
}

TEST(LatencyTest, AcceptsWhatEventsAroundEachCallAdd) {
  EXPECT_THAT(latency_codes(0.105), IsEmpty());
}

TEST(LatencyTest, RefusesATimeThatIsSlightlyTooShort) {
  EXPECT_THAT(latency_codes(0.099), ElementsAre("RL0427"));
}

/// The same with `idle_us` between two calls, in which the host makes a call of this name.
simgpu::Activity with_gaps(double idle_us, const std::string& call) {
  simgpu::Activity activity = measurement(kWarmup + kRepeat);
  std::uint64_t sequence = 0;
  double later = 0;
  for (std::size_t i = 0; i < activity.kernels.size(); ++i) {
    if (i > 0 && i % kLaunchesPerCall == 0) {
      simgpu::ApiRecord record;
      record.name = call;
      record.sequence = ++sequence;
      activity.calls.push_back(record);
      later += idle_us;
    }
    activity.kernels[i].sequence = ++sequence;
    activity.kernels[i].start_us += later;
  }
  return activity;
}

TEST(LatencyTest, NamesAWaitAfterEveryTimedCall) {
  EXPECT_THAT(latency_codes(0.108, with_gaps(8, "cudaDeviceSynchronize")), ElementsAre("RL0427"));
  EXPECT_THAT(latency_codes(0.108, with_gaps(8, "cudaEventQuery")), ElementsAre("RL0427"));
}

TEST(LatencyTest, AcceptsWaitsThatAreNotInTheMean) {
  EXPECT_THAT(latency_codes(0.1, with_gaps(8, "cudaDeviceSynchronize")), IsEmpty())
      << "two events around every call";
  EXPECT_THAT(latency_codes(0.108, with_gaps(8, "cudaMalloc")), IsEmpty()) << "idle, not waiting";
}

TEST(LatencyTest, NamesATimeThatEndsWhereTheLastCallBegins) {
  const auto benchmark = oracle_registry().at("benchmark")();
  const auto complaints =
      benchmark->judge(latency_problem(), {{{"mean", 0.09}}, measurement(kWarmup + kRepeat), true});
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(complaints[0].message.in_public, "the time ends where the last timed call begins");
}

TEST(LatencyTest, NamesADivisionByTheNumberOfEvents) {
  const auto benchmark = oracle_registry().at("benchmark")();
  const double by_events = 0.1 * kRepeat / (kRepeat + 1);
  const auto complaints = benchmark->judge(
      latency_problem(), {{{"mean", by_events}}, measurement(kWarmup + kRepeat), true});
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(complaints[0].code, Code("RL0425"));
}

TEST(LatencyTest, NamesTheTimeOfTheLastCallWhereTimedCallsDifferInLength) {
  simgpu::Activity activity = measurement(kWarmup + kRepeat);
  constexpr auto kFirstTimed = static_cast<std::size_t>(kWarmup * kLaunchesPerCall);
  double later = 0;
  for (std::size_t i = kFirstTimed; i < activity.kernels.size(); ++i) {
    simgpu::KernelRecord& kernel = activity.kernels[i];
    kernel.start_us += later;
    if (i >= kFirstTimed + 2 * kLaunchesPerCall) continue;  // the first two calls are longer
    kernel.counters.flops["fp32"] *= kColdFactor;
    later += kernel.time.total_us * (kColdFactor - 1);
    kernel.time.total_us *= kColdFactor;
  }
  // Two of 0.5 ms and eight of 0.1 ms: 0.18 and, of a sample, sqrt(0.256 / 9).
  const auto spread_codes = [&](double standard_deviation, double median) {
    return codes(latency_problem(),
                 {{{"mean", 0.18}, {"standard_deviation", standard_deviation}, {"median", median}},
                  activity,
                  true});
  };
  EXPECT_THAT(spread_codes(std::sqrt(0.256 / 9), 0.1), IsEmpty());
  EXPECT_THAT(spread_codes(std::sqrt(0.256 / 10), 0.1), ElementsAre("RL0439"));
  EXPECT_THAT(spread_codes(std::sqrt(0.256 / 9), 0.18), ElementsAre("RL0439"));
  EXPECT_THAT(spread_codes(std::sqrt(0.256 / 9), 0.14), ElementsAre("RL0407"));
  EXPECT_THAT(spread_codes(std::nan(""), 0.1), ElementsAre("RL0407"));
  const auto benchmark = oracle_registry().at("benchmark")();
  const auto complaints = benchmark->judge(latency_problem(), {{{"mean", 0.1}}, activity, true});
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(complaints[0].message.in_public, "this is the time of the last timed call alone");
}

TEST(LatencyTest, NamesWarmUpCallsInTheMean) {
  const double all_calls = (kWarmup + kRepeat) * 0.1 + 0.4;
  EXPECT_THAT(latency_codes(all_calls / kRepeat), ElementsAre("RL0424"));
  EXPECT_THAT(latency_codes(all_calls / (kWarmup + kRepeat)), ElementsAre("RL0424"));
}

TEST(LatencyTest, NamesASumThatWasNotDivided) {
  EXPECT_THAT(latency_codes(1.0), ElementsAre("RL0425"));
}

TEST(LatencyTest, NamesAWrongUnit) {
  EXPECT_THAT(latency_codes(1e-4), ElementsAre("RL0426"));
  EXPECT_THAT(latency_codes(100.0), ElementsAre("RL0426"));
}

TEST(LatencyTest, NamesEventsThatWereReadTooEarly) {
  EXPECT_THAT(latency_codes(0.0), ElementsAre("RL0423"));
  EXPECT_THAT(latency_codes(std::nan("")), ElementsAre("RL0423"));
}

TEST(LatencyTest, NamesCallsThatAreMissingOrTooMany) {
  EXPECT_THAT(latency_codes(0.1, measurement(kRepeat)), ElementsAre("RL0421"));
  EXPECT_THAT(latency_codes(0.1, measurement(kWarmup + kRepeat + 1)), ElementsAre("RL0421"));
}

TEST(LatencyTest, BelievesNoGuestThatAskedTheDeviceForNothing) {
  const CallEvidence forged{
      {{"mean", 1.0}, {"reference_0", 1.0}, {"calls", kWarmup + kRepeat}}, {}, true};
  EXPECT_THAT(codes(latency_problem(), forged), ElementsAre("RL0421"));
}

TEST(LatencyTest, CountsNoKernelThatOnlyBorrowsTheName) {
  simgpu::Activity activity = measurement(kWarmup + kRepeat);
  for (auto& kernel : activity.kernels) kernel.counters.flops.clear();
  EXPECT_THAT(latency_codes(0.1, activity), ElementsAre("RL0421"));
}

TEST(LatencyTest, NamesATimeThatDoesNotComeFromEvents) {
  simgpu::Activity activity = measurement(kWarmup + kRepeat);
  activity.api_calls["cudaEventElapsedTime"] = kRepeat;  // the adapter's own
  EXPECT_THAT(latency_codes(0.1, activity), ElementsAre("RL0422"));
}

TEST(LatencyTest, ComparesWithTheAdaptersMeasurementWhereTheDeviceKeepsNoRecords) {
  const Problem problem = latency_problem();
  const auto judged = [&](double milliseconds, std::int64_t calls) {
    CallEvidence evidence{{{"mean", milliseconds}, {"calls", calls}}, {}};
    for (std::int64_t i = 0; i < kRepeat; ++i) {
      evidence.results["reference_" + std::to_string(i)] = 0.1;
    }
    return codes(problem, evidence);
  };
  EXPECT_THAT(judged(0.11, kWarmup + kRepeat), IsEmpty());
  EXPECT_THAT(judged(1.0, kWarmup + kRepeat), ElementsAre("RL0425"));
  EXPECT_THAT(judged(0.1, kRepeat), ElementsAre("RL0421"));
}

std::vector<std::string> memory_codes(std::int64_t peak, std::int64_t allocated,
                                      std::int64_t calls = 1,
                                      const std::optional<simgpu::Activity>& activity = {},
                                      std::int64_t freed = 0) {
  const Problem problem{{{"function", std::string("benchmark_memory")},
                         {"held_before", std::int64_t{1000}},
                         {"freed", freed},
                         {"earlier_peak", std::int64_t{9000}},
                         {"kept", std::int64_t{40}},
                         {"first", std::int64_t{300}},
                         {"second", std::int64_t{200}}},
                        {}};
  return codes(problem, {{{"peak_bytes", peak}, {"allocated_bytes", allocated}, {"calls", calls}},
                         activity.value_or(simgpu::Activity{}),
                         activity.has_value()});
}

TEST(MemoryTest, AcceptsPeakAndRemainderOfTheCall) {
  EXPECT_THAT(memory_codes(340, 40), IsEmpty());
}

TEST(MemoryTest, CountsOnlyWhatACallTakesBeyondWhatItGivesBack) {
  EXPECT_THAT(memory_codes(310, 10, 1, {}, 30), IsEmpty());
  EXPECT_THAT(memory_codes(240, 0, 1, {}, 100), IsEmpty());
  EXPECT_THAT(memory_codes(0, 0, 1, {}, 500), IsEmpty());
  EXPECT_THAT(memory_codes(0, -460, 1, {}, 500), ElementsAre("RL0429"));
  simgpu::Activity activity;
  activity.api_calls["cudaMallocAsync"] = 3 + 3;
  EXPECT_THAT(memory_codes(0, 0, 1, activity, 500), IsEmpty());
}

TEST(MemoryTest, NamesAPeakThatIsNotTheCalls) {
  EXPECT_THAT(memory_codes(9000, 40), ElementsAre("RL0428"));
  EXPECT_THAT(memory_codes(1340, 40), ElementsAre("RL0428"));
  EXPECT_THAT(memory_codes(540, 40), ElementsAre("RL0428"));
}

TEST(MemoryTest, NamesARemainderThatIsNotTheCalls) {
  EXPECT_THAT(memory_codes(340, 1040), ElementsAre("RL0429"));
  EXPECT_THAT(memory_codes(340, 0), ElementsAre("RL0429"));
}

TEST(MemoryTest, NamesAFunctionThatWasCalledTwice) {
  EXPECT_THAT(memory_codes(340, 40, 2), ElementsAre("RL0421"));
}

TEST(MemoryTest, BelievesTheDevicesCountOfCallsAndNotTheGuests) {
  simgpu::Activity activity;
  activity.api_calls["cudaMallocAsync"] = 2 + 3;
  EXPECT_THAT(memory_codes(340, 40, 1, activity), IsEmpty());
  EXPECT_THAT(memory_codes(340, 40, 7, activity), IsEmpty());
  activity.api_calls["cudaMallocAsync"] = 2 + 2 * 3;
  EXPECT_THAT(memory_codes(340, 40, 1, activity), ElementsAre("RL0421"));
  activity.api_calls["cudaMallocAsync"] = 2;
  EXPECT_THAT(memory_codes(340, 40, 1, activity), ElementsAre("RL0421"));
  activity.api_calls = {{"cudaFree", 1}};
  EXPECT_THAT(memory_codes(340, 40, 1, activity), ElementsAre("RL0421"));
}

simgpu::Activity activity_of(const std::vector<const char*>& names) {
  simgpu::Activity activity;
  activity.api_calls["cudaMallocAsync"] = 2 + 3;
  for (const char* name : names) {
    simgpu::ApiRecord record;
    record.name = name;
    activity.calls.push_back(record);
  }
  return activity;
}

TEST(MemoryTest, NamesAPoolThatIsReadBeforeTheWorkIsDone) {
  EXPECT_THAT(memory_codes(340, 40, 1,
                           activity_of({"cudaMallocAsync", "cudaFreeAsync", "cudaDeviceSynchronize",
                                        "cudaMemPoolGetAttribute", "cudaFreeAsync"})),
              IsEmpty());
  EXPECT_THAT(memory_codes(340, 40, 1,
                           activity_of({"cudaDeviceSynchronize", "cudaMallocAsync", "cudaFreeAsync",
                                        "cudaMemPoolGetAttribute", "cudaDeviceSynchronize"})),
              ElementsAre("RL0428"));
}

TEST(MemoryTest, NamesAPoolThatIsReadWhileEarlierWorkMayBeUnderWay) {
  const auto codes_after = [](std::vector<const char*> names) {
    names.insert(names.end(), {"cudaMallocAsync", "cudaFreeAsync", "cudaDeviceSynchronize",
                               "cudaMemPoolGetAttribute"});
    return memory_codes(340, 40, 1, activity_of(names));
  };
  EXPECT_THAT(codes_after({"cudaMallocAsync", "cudaFreeAsync", "cudaMemPoolGetAttribute"}),
              ElementsAre("RL0428"));
  EXPECT_THAT(codes_after({"cudaMallocAsync", "cudaDeviceSynchronize", "cudaFreeAsync",
                           "cudaMemPoolGetAttribute"}),
              ElementsAre("RL0428"));
  EXPECT_THAT(codes_after({"cudaMallocAsync", "cudaFreeAsync", "cudaStreamSynchronize",
                           "cudaMemPoolGetAttribute"}),
              IsEmpty());
  EXPECT_THAT(codes_after({}), IsEmpty());
}

TEST(BenchmarkOracleTest, TellsWhatTheDeviceSawBesideWhatWasReturned) {
  const auto benchmark = oracle_registry().at("benchmark")();
  const auto complaints =
      benchmark->judge(latency_problem(), {{{"mean", 1.0}}, measurement(kWarmup + kRepeat), true});
  EXPECT_THAT(
      complaints,
      ElementsAre(Field(&Complaint::message,
                        Field(&Sentence::text,
                              "this is the time of all timed calls together; one call takes 0.1 "
                              "ms on the device, the function returned 1"))));
  EXPECT_EQ(complaints[0].message.in_public, "this is the time of all timed calls together");
}

}  // namespace
}  // namespace rooflab
