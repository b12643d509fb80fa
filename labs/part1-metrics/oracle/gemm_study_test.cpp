#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "grader/contract/oracle.h"
#include "labs/part1-metrics/oracle/gemm_study_record.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

using plot::LatencyChart;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kPeak = 20e12;
constexpr double kBandwidth = 1.5e12;
constexpr double kLaunchMs = 0.002;
const std::vector<std::int64_t> kSizes = {64, 128, 256};

double flops_of(std::int64_t n) { return 2.0 * static_cast<double>(n * n * n); }
double least_ms(std::int64_t n) {
  return 1e3 * std::max(flops_of(n) / kPeak, 12.0 * static_cast<double>(n * n) / kBandwidth);
}

/// A tenth of the peak, a fifth and a half, and a launch.
double right_ms(const std::string& gemm, std::int64_t n) {
  const double share = gemm == "naive" ? 0.1 : gemm == "tiled" ? 0.2 : 0.5;
  return kLaunchMs + 1e3 * flops_of(n) / (share * kPeak);
}

/// A device's record of a study that calls each GEMM `calls` times, and of the adapter's calls
/// behind it.
simgpu::Activity study(int calls = 2) {
  simgpu::Activity activity;
  std::uint64_t sequence = 0, marker = 101;
  double now_us = 0;
  const auto mark = [&] {
    activity.memory.push_back({.sequence = sequence++,
                               .operation = simgpu::MemoryOperation::set,
                               .bytes = marker++,
                               .start_us = now_us,
                               .time_us = 1});
    now_us += 1;
  };
  const auto run = [&](const std::string& gemm, std::int64_t n) {
    simgpu::KernelRecord kernel;
    kernel.sequence = sequence++;
    kernel.name = gemm;
    kernel.grid = {static_cast<std::uint32_t>(n), 1, 1};
    kernel.start_us = now_us;
    kernel.time.total_us = 1e3 * right_ms(gemm, n);
    kernel.counters.flops["fp32"] = static_cast<std::uint64_t>(flops_of(n));
    kernel.counters.global_load_bytes = static_cast<std::uint64_t>(8 * n * n);
    kernel.counters.global_store_bytes = static_cast<std::uint64_t>(4 * n * n);
    now_us += kernel.time.total_us;
    activity.kernels.push_back(kernel);
  };
  for (const std::int64_t n : kSizes) {
    for (const char* gemm : {"naive", "tiled", "cublas"}) {
      for (int i = 0; i < calls; ++i) run(gemm, n);
    }
  }
  mark();
  for (const std::int64_t n : kSizes) {
    for (const char* gemm : {"naive", "tiled", "cublas"}) {
      mark();
      run(gemm, n);
      mark();
    }
  }
  return activity;
}

LatencyChart right_chart() {
  LatencyChart chart;
  chart.title = "a GPU";
  chart.x_label = "M = N = K";
  chart.latency_ms = {{"naive", {}}, {"tiled", {}}, {"cublas", {}}, {"roofline", {}}};
  for (const std::int64_t n : kSizes) {
    chart.x.push_back(std::to_string(n));
    for (plot::Series& series : chart.latency_ms) {
      series.values.push_back(series.label == "roofline" ? least_ms(n) : right_ms(series.label, n));
    }
  }
  return chart;
}

CallEvidence evidence_of(const LatencyChart& chart) {
  CallEvidence evidence{.results = {}, .activity = study(), .keeps_records = true};
  evidence.results["flops_per_second"] = kPeak;
  evidence.results["bytes_per_second"] = kBandwidth;
  evidence.results["n_repeat"] = std::int64_t{3};
  evidence.results["json"] = plot::to_json(chart);
  evidence.results["csv"] = plot::to_csv(chart);
  evidence.results["svg"] = plot::to_svg(chart);
  return evidence;
}

Problem problem(const char* judges) {
  return {{{"judges", std::string(judges)}, {"smallest", kSizes[0]}, {"count", std::int64_t{3}}},
          {}};
}

std::vector<Complaint> judged(const CallEvidence& evidence, const char* judges = "chart") {
  return oracle_registry().at("gemm_study")()->judge(problem(judges), evidence);
}

std::vector<std::string> codes(const CallEvidence& evidence) {
  std::vector<std::string> codes;
  for (const Complaint& complaint : judged(evidence)) codes.push_back(complaint.code.text());
  return codes;
}

/// Codes for a chart in which the first series of that label was changed.
std::vector<std::string> codes_after(const std::string& label,
                                     const std::function<void(plot::Series&)>& change) {
  LatencyChart chart = right_chart();
  for (plot::Series& series : chart.latency_ms) {
    if (series.label == label) {
      change(series);
      break;
    }
  }
  return codes(evidence_of(chart));
}

TEST(GemmStudyRecordTest, FindsTheCallsBetweenTheMarkers) {
  const auto calls = recorded_gemms(study(), kSizes, false);
  ASSERT_EQ(calls.size(), 9U);
  for (const std::int64_t n : kSizes) {
    for (const char* gemm : {"naive", "tiled", "cublas"}) {
      const RecordedGemm& call = calls.at(name_of(gemm, n));
      EXPECT_EQ(call.kernels, 1);
      EXPECT_EQ(call.earlier_launches, 2) << "those of the adapter are none of the study's";
      EXPECT_NEAR(call.busy_ms, right_ms(gemm, n), 1e-9);
      EXPECT_NEAR(call.span_ms, call.busy_ms, 1e-9);
    }
  }
  for (const auto& [name, call] : recorded_gemms({}, kSizes, true)) EXPECT_EQ(call.kernels, 0);
}

TEST(GemmStudyOracleTest, AcceptsTheRightChart) {
  EXPECT_THAT(codes(evidence_of(right_chart())), IsEmpty());
}

TEST(GemmStudyOracleTest, WantsItsSizesAndSeries) {
  EXPECT_THAT(codes_after("tiled", [](plot::Series& s) { s.label = "mine"; }),
              ElementsAre("RL0453"));
  LatencyChart more = right_chart();
  more.latency_ms.push_back(more.latency_ms[0]);
  EXPECT_THAT(codes(evidence_of(more)), ElementsAre("RL0453"));
  more.latency_ms.back().label = "torch";
  EXPECT_THAT(codes(evidence_of(more)), ElementsAre("RL0453"));
  LatencyChart other = right_chart();
  other.x[0] = "32";
  EXPECT_THAT(codes(evidence_of(other)), ElementsAre("RL0535"));
}

TEST(GemmStudyOracleTest, WantsFilesThatShowTheChart) {
  CallEvidence evidence = evidence_of(right_chart());
  evidence.results["svg"] = std::string("<svg onload='alert(1)'/>");
  EXPECT_THAT(codes(evidence), ElementsAre("RL0450"));
  evidence.results["json"] = std::string();
  EXPECT_THAT(codes(evidence), ElementsAre("RL0450"));
  evidence.results["json"] = std::string(100'000, '[');
  EXPECT_THAT(codes(evidence), ElementsAre("RL0451"));
}

TEST(GemmStudyOracleTest, RefusesTimesThatAreNotTheDevices) {
  const auto code_at = [](double factor) {
    return codes_after("tiled", [&](plot::Series& s) { s.values[2] *= factor; });
  };
  EXPECT_THAT(code_at(1.01), IsEmpty());
  EXPECT_THAT(code_at(2), ElementsAre("RL0537"));
  EXPECT_THAT(code_at(0.9), ElementsAre("RL0459"));
  EXPECT_THAT(code_at(1e-3), ElementsAre("RL0426"));
  EXPECT_THAT(code_at(1e3), ElementsAre("RL0426"));
  EXPECT_THAT(code_at(3), ElementsAre("RL0425"));
  EXPECT_THAT(codes_after("tiled", [](plot::Series& s) { s.values[1] = plot::kOutOfMemory; }),
              ElementsAre("RL0459"));
}

TEST(GemmStudyOracleTest, NamesACurveThatBelongsToAnotherFunction) {
  LatencyChart chart = right_chart();
  std::swap(chart.latency_ms[0].values, chart.latency_ms[2].values);
  const auto complaints = judged(evidence_of(chart));
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_THAT(complaints[0].message.text, HasSubstr("\"naive\" has the times of \"cublas\""));
}

TEST(GemmStudyOracleTest, WantsEachGemmRunTwiceInTheStudy) {
  CallEvidence evidence = evidence_of(right_chart());
  evidence.activity = study(1);
  EXPECT_THAT(codes(evidence), ElementsAre("RL0458"));
  evidence.activity = study(0);
  EXPECT_THAT(codes(evidence), ElementsAre("RL0457"));
}

TEST(GemmStudyOracleTest, TakesNoMarkersThatTheStudyMakesAsWell) {
  CallEvidence evidence = evidence_of(right_chart());
  evidence.activity.memory.insert(evidence.activity.memory.begin(),
                                  evidence.activity.memory.begin(),
                                  evidence.activity.memory.begin() + 3);
  EXPECT_THAT(codes(evidence), ElementsAre("RL0537"));
}

TEST(GemmStudyOracleTest, TakesNoRoofsFromTheReplyThatAreNotThoseOfTheGpu) {
  LatencyChart chart = right_chart();
  for (double& value : chart.latency_ms.back().values) value = 1e-6;
  CallEvidence evidence = evidence_of(chart);
  evidence.results["flops_per_second"] = 1e300;
  evidence.results["bytes_per_second"] = 1e300;
  evidence.peaks = {.flops_per_second = 1.01 * kPeak, .bytes_per_second = 0.99 * kBandwidth};
  EXPECT_THAT(codes(evidence), ElementsAre("RL0455"));
  evidence.results["json"] = plot::to_json(right_chart());
  evidence.results["csv"] = plot::to_csv(right_chart());
  evidence.results["svg"] = plot::to_svg(right_chart());
  evidence.results["flops_per_second"] = kPeak;
  evidence.results["bytes_per_second"] = kBandwidth;
  EXPECT_THAT(codes(evidence), IsEmpty()) << "a specification has fewer digits";
}

TEST(GemmStudyOracleTest, TakesNoFindingsOfTimesThatWereNeverMeasured) {
  CallEvidence evidence = evidence_of(right_chart());
  const auto codes_of_findings = [&] {
    std::vector<std::string> codes;
    for (const Complaint& complaint : judged(evidence, "findings")) {
      codes.push_back(complaint.code.text());
    }
    return codes;
  };
  EXPECT_THAT(codes_of_findings(), ElementsAre("RL0407")) << "none are returned";
  evidence.activity.kernels.clear();
  EXPECT_THAT(codes_of_findings(), ElementsAre("RL0457"));
}

TEST(GemmStudyOracleTest, WantsTheWorkOfAGemm) {
  for (const auto& less : std::vector<std::function<void(simgpu::KernelCounters&)>>{
           [](auto& counters) { counters.flops["fp32"] /= 2; },
           [](auto& counters) { counters.global_load_bytes /= 2; },
           [](auto& counters) { counters.global_store_bytes /= 2; }}) {
    CallEvidence evidence = evidence_of(right_chart());
    for (simgpu::KernelRecord& kernel : evidence.activity.kernels) less(kernel.counters);
    EXPECT_THAT(codes(evidence), ElementsAre("RL0537"));
  }
}

TEST(GemmStudyOracleTest, WantsItsInputsAsTheyWere) {
  CallEvidence evidence = evidence_of(right_chart());
  evidence.results["inputs_changed"] = std::int64_t{1};
  EXPECT_THAT(codes(evidence), ElementsAre("RL0405"));
}

std::string told_of_roofline(const std::function<double(std::int64_t)>& ms) {
  LatencyChart chart = right_chart();
  for (std::size_t i = 0; i < kSizes.size(); ++i) chart.latency_ms[3].values[i] = ms(kSizes[i]);
  const auto complaints = judged(evidence_of(chart));
  return complaints.empty() ? "" : complaints[0].message.in_public;
}

TEST(GemmStudyOracleTest, NamesTheUsualSlipsOfARoofline) {
  const auto compute = [](std::int64_t n) { return 1e3 * flops_of(n) / kPeak; };
  const auto memory = [](std::int64_t n) { return 12e3 * static_cast<double>(n * n) / kBandwidth; };
  EXPECT_EQ(told_of_roofline(least_ms), "");
  EXPECT_THAT(told_of_roofline([](std::int64_t n) { return least_ms(n) * 1e-3; }),
              HasSubstr("in seconds"));
  EXPECT_THAT(told_of_roofline(compute), HasSubstr("bytes are left out"));
  EXPECT_THAT(told_of_roofline(memory), HasSubstr("arithmetic is left out"));
  EXPECT_THAT(told_of_roofline([&](std::int64_t n) { return compute(n) + memory(n); }),
              HasSubstr("added up"));
  EXPECT_EQ(told_of_roofline([](std::int64_t n) { return 1.7 * least_ms(n); }),
            "the roofline is wrong");
}

/// What is said of findings by a chart whose times follow from these shares of the least time.
std::string told(std::int64_t tiling, std::int64_t launch, std::vector<double> tiled_over_naive,
                 std::vector<double> cublas_over_least) {
  LatencyChart chart = right_chart();
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    chart.latency_ms[0].values[i] = 20 * least_ms(kSizes[i]);
    chart.latency_ms[1].values[i] = tiled_over_naive[i] * 20 * least_ms(kSizes[i]);
    chart.latency_ms[2].values[i] = cublas_over_least[i] * least_ms(kSizes[i]);
  }
  CallEvidence evidence = evidence_of(chart);
  evidence.results["tiling_pays_from"] = tiling;
  evidence.results["launch_hides_up_to"] = launch;
  const auto complaints = judged(evidence, "findings");
  return complaints.empty() ? "" : complaints[0].message.in_public;
}

TEST(GemmStudyOracleTest, FollowsTheCurvesToItsFindings) {
  EXPECT_EQ(told(128, 64, {1, 0.8, 0.7}, {50, 5, 2}), "");
  EXPECT_EQ(told(64, 256, {0.5, 0.5, 0.5}, {50, 20, 11}), "");
  EXPECT_EQ(told(0, 0, {0.5, 0.5, 1}, {5, 50, 50}), "") << "none qualifies";
  EXPECT_EQ(told(256, 64, {0.5, 1, 0.5}, {50, 5, 50}), "") << "a larger one does not";
}

TEST(GemmStudyOracleTest, NamesTheUsualSlipsOfAFinding) {
  EXPECT_THAT(told(64, 64, {1, 0.8, 0.7}, {50, 5, 2}), HasSubstr("last size at which tiling"));
  EXPECT_THAT(told(64, 64, {0.5, 1, 0.5}, {50, 5, 2}), HasSubstr("a larger size follows"));
  EXPECT_THAT(told(256, 64, {1, 0.8, 0.7}, {50, 5, 2}), HasSubstr("at a smaller size already"));
  EXPECT_THAT(told(128, 128, {1, 0.8, 0.7}, {50, 5, 2}), HasSubstr("no longer hides"));
  EXPECT_THAT(told(128, 256, {1, 1, 1}, {50, 5, 2}), HasSubstr("does not follow"));
  EXPECT_THAT(told(128, 7, {1, 0.8, 0.7}, {50, 5, 2}), HasSubstr("does not follow"));
}

TEST(GemmStudyOracleTest, AsksForPlausibleTimesWhereTheDeviceKeepsNoRecords) {
  CallEvidence evidence = evidence_of(right_chart());
  evidence.keeps_records = false;
  evidence.activity = {};
  EXPECT_THAT(codes(evidence), IsEmpty());
  LatencyChart chart = right_chart();
  chart.latency_ms[0].values[2] = least_ms(kSizes[2]) / 2;
  CallEvidence implausible = evidence_of(chart);
  implausible.keeps_records = false;
  EXPECT_THAT(codes(implausible), ElementsAre("RL0537"));
}

TEST(GemmStudyOracleTest, DrawsTheChartAgainFromItsNumbers) {
  CallEvidence evidence = evidence_of(right_chart());
  evidence.results["svg"] = std::string("<svg onload='alert(1)'/>");
  const auto oracle = oracle_registry().at("gemm_study")();
  const auto artifacts = oracle->artifacts(problem("chart"), evidence);
  EXPECT_EQ(artifacts.at("gemm_study.svg"), plot::to_svg(right_chart()));
  EXPECT_EQ(artifacts.at("gemm_study.csv"), plot::to_csv(right_chart()));
  EXPECT_THAT(oracle->artifacts(problem("findings"), evidence), IsEmpty());
}

}  // namespace
}  // namespace rooflab
