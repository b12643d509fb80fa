#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "grader/contract/oracle.h"
#include "labs/part2-roofline/oracle/sweep_operations.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

using plot::PointKind;
using plot::RooflineChart;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kPeak = 20e12;
constexpr double kBandwidth = 1.5e12;
constexpr double kShare = 0.8;  // of what the roofline allows, in every run here

double attainable(const SweepOperation& operation) {
  return std::min(kPeak, operation.intensity() * kBandwidth);
}

simgpu::Activity two_runs_of_each() {
  simgpu::Activity activity;
  for (const SweepOperation& operation : sweep_operations()) {
    simgpu::KernelRecord kernel;
    kernel.name = operation.library ? "cublas_sgemm" : "map_kernel";
    kernel.counters.flops["fp32"] = static_cast<std::uint64_t>(operation.flops);
    kernel.counters.global_load_bytes = static_cast<std::uint64_t>(operation.bytes());
    kernel.counters.dram_read_bytes = kernel.counters.global_load_bytes;
    kernel.time.total_us = operation.flops / (kShare * attainable(operation)) * 1e6;
    activity.kernels.insert(activity.kernels.end(), 2, kernel);
  }
  return activity;
}

RooflineChart right_chart() {
  RooflineChart chart;
  chart.title = "a GPU";
  chart.roofs = {{"fp32", kPeak}};
  chart.memory = {{"DRAM", kBandwidth}};
  for (const SweepOperation& operation : sweep_operations()) {
    const std::string label(operation.label);
    const double intensity = operation.intensity();
    chart.points.push_back({label, intensity, attainable(operation), PointKind::predicted});
    chart.points.push_back({label, intensity, kShare * attainable(operation), PointKind::modelled});
  }
  return chart;
}

CallEvidence evidence_of(const RooflineChart& chart) {
  return {{{"flops_per_second", kPeak},
           {"bytes_per_second", kBandwidth},
           {"json", plot::to_json(chart)},
           {"csv", plot::to_csv(chart)},
           {"svg", plot::to_svg(chart)}},
          two_runs_of_each(),
          true};
}

std::vector<Complaint> judge(const CallEvidence& evidence) {
  return oracle_registry().at("sweep")()->judge({}, evidence);
}

std::vector<std::string> codes(const CallEvidence& evidence) {
  std::vector<std::string> codes;
  for (const Complaint& complaint : judge(evidence)) codes.push_back(complaint.code.text());
  return codes;
}

/// Codes for the right chart after `change`.
std::vector<std::string> codes_after(const std::function<void(RooflineChart&)>& change) {
  RooflineChart chart = right_chart();
  change(chart);
  return codes(evidence_of(chart));
}

void change_all(RooflineChart& chart, const std::function<void(plot::Point&)>& change) {
  for (plot::Point& point : chart.points) change(point);
}

TEST(SweepOracleTest, CountsFlopsAndBytesOfAProduct) {
  const SweepOperation& gemm = sweep_operations()[0];
  EXPECT_EQ(gemm.label, "gemm 1024");
  EXPECT_EQ(gemm.flops, 2.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(gemm.bytes(), 4.0 * 3 * 1024 * 1024);
  EXPECT_NEAR(gemm.intensity(), 1024 / 6.0, 1e-9);
}

TEST(SweepOracleTest, AcceptsTheRightChart) {
  EXPECT_THAT(codes(evidence_of(right_chart())), IsEmpty());
}

TEST(SweepOracleTest, WantsAllThreeFilesOfOneChart) {
  for (const char* file : {"json", "csv", "svg"}) {
    CallEvidence evidence = evidence_of(right_chart());
    evidence.results[file] = std::string();
    EXPECT_THAT(codes(evidence), ElementsAre("RL0450")) << file;
    evidence.results.erase(file);
    EXPECT_THAT(codes(evidence), ElementsAre("RL0450")) << file;
  }
  CallEvidence evidence = evidence_of(right_chart());
  RooflineChart other = right_chart();
  other.title = "another GPU";
  evidence.results["svg"] = plot::to_svg(other);
  EXPECT_THAT(codes(evidence), ElementsAre("RL0450"));
}

TEST(SweepOracleTest, RefusesWhatIsNoChart) {
  const std::string json = plot::to_json(right_chart());
  for (const std::string& text :
       {std::string("{}"), std::string("null"), std::string(1 << 20, '['), std::string("\0\xff", 2),
        json.substr(0, json.size() / 2), json + json}) {
    CallEvidence evidence = evidence_of(right_chart());
    evidence.results["json"] = text;
    EXPECT_THAT(codes(evidence), ElementsAre("RL0451")) << text.substr(0, 20);
  }
  CallEvidence evidence = evidence_of(right_chart());
  evidence.results["json"] = std::int64_t{7};
  EXPECT_THAT(codes(evidence), ElementsAre("RL0450"));
}

TEST(SweepOracleTest, WantsTheRoofsOfTheGpu) {
  EXPECT_THAT(codes_after([](auto& chart) { chart.roofs[0].flops_per_second *= 2; }),
              ElementsAre("RL0452"));
  EXPECT_THAT(codes_after([](auto& chart) {
                chart.memory.push_back({"L2", 5e12});
              }),
              ElementsAre("RL0452"));
}

TEST(SweepOracleTest, WantsTwoPointsOfEachOperation) {
  EXPECT_THAT(codes_after([](auto& chart) { chart.points.pop_back(); }), ElementsAre("RL0453"));
  EXPECT_THAT(codes_after([](auto& chart) { chart.points.clear(); }), ElementsAre("RL0453"));
  EXPECT_THAT(codes_after([](auto& chart) { chart.points.push_back(chart.points[0]); }),
              ElementsAre("RL0453"));
  EXPECT_THAT(codes_after([](auto& chart) { chart.points[0].label = "gemm-1024"; }),
              ElementsAre("RL0453"));
}

TEST(SweepOracleTest, TellsMacsAndElementsInAnIntensity) {
  const auto message_after = [](double factor) {
    RooflineChart chart = right_chart();
    change_all(chart, [factor](plot::Point& point) { point.intensity *= factor; });
    const auto complaints = judge(evidence_of(chart));
    return complaints.empty() ? "" : complaints[0].code.text() + ": " + complaints[0].message.text;
  };
  EXPECT_THAT(message_after(0.5), HasSubstr("RL0454: MACs are counted as FLOPs"));
  EXPECT_THAT(message_after(4), HasSubstr("RL0454: the intensity is in FLOPs for each element"));
  EXPECT_THAT(message_after(1.01), HasSubstr("RL0454: the arithmetic intensity is wrong"));
}

TEST(SweepOracleTest, WantsTheLowerRoofAsPrediction) {
  const auto predict = [](double (*performance)(const plot::Point&)) {
    return codes_after([performance](RooflineChart& chart) {
      change_all(chart, [performance](plot::Point& point) {
        if (point.kind == PointKind::predicted) point.flops_per_second = performance(point);
      });
    });
  };
  EXPECT_THAT(predict([](const plot::Point&) { return kPeak; }), ElementsAre("RL0455"));
  EXPECT_THAT(predict([](const plot::Point& p) { return p.intensity * kBandwidth; }),
              ElementsAre("RL0455"));
}

TEST(SweepOracleTest, KeepsModelledAndMeasuredApart) {
  const auto call_it = [](PointKind kind) {
    return codes_after([kind](RooflineChart& chart) {
      change_all(chart, [kind](plot::Point& point) {
        if (point.kind == PointKind::modelled) point.kind = kind;
      });
    });
  };
  EXPECT_THAT(call_it(PointKind::measured), ElementsAre("RL0456"));
  EXPECT_THAT(call_it(PointKind::target), ElementsAre("RL0456"));
}

/// Code and message for the right chart with every time's performance multiplied by `factor`.
std::string after_scaling(double factor) {
  RooflineChart chart = right_chart();
  change_all(chart, [factor](plot::Point& point) {
    if (point.kind == PointKind::modelled) point.flops_per_second *= factor;
  });
  const auto complaints = judge(evidence_of(chart));
  return complaints.empty() ? "" : complaints[0].code.text() + ": " + complaints[0].message.text;
}

TEST(SweepOracleTest, TellsAPredictionThatIsGivenAsReached) {
  RooflineChart chart = right_chart();
  change_all(chart, [](plot::Point& point) {
    if (point.kind != PointKind::modelled) return;
    point.flops_per_second = std::min(kPeak, point.intensity * kBandwidth);
  });
  const auto complaints = judge(evidence_of(chart));
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(complaints[0].code, Code("RL0457"));
  EXPECT_THAT(complaints[0].message.text,
              HasSubstr("what the roofline predicts, not what was reached"));
}

TEST(SweepOracleTest, HoldsPerformanceAgainstTheDevicesRecord) {
  EXPECT_EQ(after_scaling(1.015), "");
  EXPECT_EQ(after_scaling(0.985), "");
  EXPECT_THAT(after_scaling(1.03), HasSubstr("RL0457: this is not the performance"));
  EXPECT_THAT(after_scaling(1e-3), HasSubstr("RL0457: the time in milliseconds"));
  EXPECT_THAT(after_scaling(1e-12), HasSubstr("RL0457: the performance is in TFLOP/s"));
  EXPECT_THAT(after_scaling(0.5), HasSubstr("RL0457: MACs are counted as FLOPs"));
  EXPECT_THAT(after_scaling(40), HasSubstr("RL0459: the clock was stopped"));
}

TEST(SweepOracleTest, TellsAMeanThatIsDividedByTheCallsAgain) {
  const auto complaint_of = [](double factor, double of_the_last) {
    RooflineChart chart = right_chart();
    change_all(chart, [factor](plot::Point& point) {
      if (point.kind == PointKind::modelled) point.flops_per_second *= factor;
    });
    chart.points.back().flops_per_second *= of_the_last / factor;
    CallEvidence evidence = evidence_of(chart);
    const std::vector<simgpu::KernelRecord> two_of_each = evidence.activity.kernels;
    for (int more = 0; more < 2; ++more) {
      evidence.activity.kernels.insert(evidence.activity.kernels.end(), two_of_each.begin(),
                                       two_of_each.end());
    }
    return judge(evidence).at(0).code;
  };
  EXPECT_EQ(complaint_of(5, 5), Code("RL0425"));
  EXPECT_EQ(complaint_of(6, 6), Code("RL0425"));
  EXPECT_EQ(complaint_of(5, 7), Code("RL0459"));
  EXPECT_EQ(complaint_of(4, 4), Code("RL0459"));
}

TEST(SweepOracleTest, WantsEachOperationRunTwice) {
  CallEvidence evidence = evidence_of(right_chart());
  evidence.activity.kernels.pop_back();
  EXPECT_THAT(codes(evidence), ElementsAre("RL0458"));
  evidence.activity.kernels.pop_back();
  EXPECT_THAT(codes(evidence), ElementsAre("RL0457"));
  evidence.activity.kernels.clear();
  EXPECT_THAT(codes(evidence), ElementsAre("RL0457"));
}

TEST(SweepOracleTest, TakesNoKernelThatMovesNothingForTheOperation) {
  CallEvidence evidence = evidence_of(right_chart());
  for (simgpu::KernelRecord& kernel : evidence.activity.kernels) {
    kernel.counters.global_load_bytes /= 2;
  }
  EXPECT_THAT(codes(evidence), ElementsAre("RL0457"));
}

TEST(SweepOracleTest, WantsEveryOperandToCrossDram) {
  const auto with_share_of = [](std::string_view label, double share, bool every_time) {
    CallEvidence evidence = evidence_of(right_chart());
    const auto operation = std::ranges::find(sweep_operations(), label, &SweepOperation::label);
    const auto first = static_cast<std::size_t>(2 * (operation - sweep_operations().begin()));
    for (std::size_t i = first; i < first + (every_time ? 2 : 1); ++i) {
      std::uint64_t& bytes = evidence.activity.kernels[i].counters.dram_read_bytes;
      bytes = static_cast<std::uint64_t>(share * static_cast<double>(bytes));
    }
    return codes(evidence);
  };
  EXPECT_THAT(with_share_of("triad 2^26", 2.0 / 3, true), ElementsAre("RL0457"));
  EXPECT_THAT(with_share_of("gemm 2048", 2.0 / 3, true), ElementsAre("RL0457"));
  EXPECT_THAT(with_share_of("triad 2^26", 0.8, true), IsEmpty()) << "the rest is in the L2";
  EXPECT_THAT(with_share_of("scale 2^26", 0.5, false), IsEmpty()) << "in one launch of two";
}

TEST(SweepOracleTest, WantsItsInputsAsTheyWere) {
  CallEvidence evidence = evidence_of(right_chart());
  evidence.results["inputs_changed"] = std::int64_t{1};
  EXPECT_THAT(codes(evidence), ElementsAre("RL0405"));
}

TEST(SweepOracleTest, TakesNoKernelOfTheStudentsForTheLibrarys) {
  CallEvidence evidence = evidence_of(right_chart());
  for (simgpu::KernelRecord& kernel : evidence.activity.kernels) kernel.name = "my_gemm";
  EXPECT_THAT(codes(evidence), ElementsAre("RL0457"));
}

TEST(SweepOracleTest, AsksForPlausibleTimesWhereTheDeviceKeepsNoRecords) {
  RooflineChart chart = right_chart();
  change_all(chart, [](plot::Point& point) {
    if (point.kind == PointKind::modelled) point.kind = PointKind::measured;
  });
  CallEvidence evidence = evidence_of(chart);
  evidence.keeps_records = false;
  evidence.activity = {};
  EXPECT_THAT(codes(evidence), IsEmpty());
  chart.points[1].flops_per_second = 10 * kPeak;
  CallEvidence implausible = evidence_of(chart);
  implausible.keeps_records = false;
  EXPECT_THAT(codes(implausible), ElementsAre("RL0457"));
}

TEST(SweepOracleTest, DrawsTheChartAgainFromItsNumbers) {
  CallEvidence evidence = evidence_of(right_chart());
  evidence.results["svg"] = std::string("<svg onload='alert(1)'/>");
  const auto artifacts = oracle_registry().at("sweep")()->artifacts({}, evidence);
  EXPECT_EQ(artifacts.at("roofline.svg"), plot::to_svg(right_chart()));
  EXPECT_EQ(artifacts.at("roofline.csv"), plot::to_csv(right_chart()));
}

}  // namespace
}  // namespace rooflab
