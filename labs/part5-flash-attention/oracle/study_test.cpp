#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <limits>

#include "grader/contract/oracle.h"
#include "labs/part5-flash-attention/oracle/study_record.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

using plot::PointKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kPeak = 20e12;
constexpr double kBandwidth = 1.5e12;

/// One form at one length, as a row of the study.
struct Row {
  double ms = 0;
  double bytes = 0;
  std::int64_t kernels = 0;
};
using Rows = std::map<std::string, Row>;  // by name, "flash 256"

std::int64_t kernels_of(AttentionForm form) { return form == AttentionForm::standard ? 3 : 1; }

/// Every kernel takes half of the peak's time, and the standard form ten times that.
double kernel_ms(AttentionForm form, int length) {
  const double share = form == AttentionForm::standard ? 0.05 : 0.5;
  return study_flops(length) / (share * kPeak) * 1e3 / static_cast<double>(kernels_of(form));
}

Rows right_rows() {
  Rows rows;
  for (const int length : kStudyLengths) {
    for (const AttentionForm form : kForms) {
      const auto kernels = kernels_of(form);
      rows[name_of(form, length)] = {static_cast<double>(kernels) * kernel_ms(form, length),
                                     study_memory(form, length), kernels};
    }
  }
  return rows;
}

/// The adapter's calls as a device records them: a fill before each, and one behind the last.
simgpu::Activity marked_calls() {
  simgpu::Activity activity;
  std::uint64_t sequence = 0;
  std::uint64_t marker = 101;
  double now_us = 0;
  const auto mark = [&] {
    activity.memory.push_back({.sequence = sequence++,
                               .operation = simgpu::MemoryOperation::set,
                               .bytes = marker++,
                               .start_us = now_us,
                               .time_us = 1});
    now_us += 1;
  };
  for (const int length : kStudyLengths) {
    for (const AttentionForm form : kForms) {
      mark();
      if (form == AttentionForm::standard) {
        simgpu::ApiRecord taken;
        taken.sequence = sequence++;
        taken.name = "cudaMallocAsync";
        activity.calls.push_back(taken);
      }
      for (std::int64_t i = 0; i < kernels_of(form); ++i) {
        simgpu::KernelRecord kernel;
        kernel.sequence = sequence++;
        kernel.start_us = now_us;
        kernel.time.total_us = 1e3 * kernel_ms(form, length);
        const double flops = study_flops(length) / static_cast<double>(kernels_of(form));
        kernel.counters.flops["fp32"] = static_cast<std::uint64_t>(flops) + 1;
        const LeastTraffic traffic = least_traffic(form, length);
        const auto share = static_cast<double>(kernels_of(form));
        kernel.counters.global_load_bytes = static_cast<std::uint64_t>(traffic.loaded / share) + 1;
        kernel.counters.global_store_bytes = static_cast<std::uint64_t>(traffic.stored / share) + 1;
        now_us += kernel.time.total_us;
        activity.kernels.push_back(kernel);
      }
    }
  }
  mark();
  activity.peak_allocated =
      static_cast<std::uint64_t>(study_memory(AttentionForm::standard, 4096)) + 1000;
  return activity;
}

plot::AttentionChart attention_chart(const Rows& rows) {
  plot::AttentionChart chart;
  chart.title = "a GPU";
  for (const int length : kStudyLengths) chart.lengths.push_back(length);
  for (const AttentionForm form : kForms) {
    plot::Series latency{name_of(form), {}};
    plot::Series memory{name_of(form), {}};
    for (const int length : kStudyLengths) {
      latency.values.push_back(rows.at(name_of(form, length)).ms);
      memory.values.push_back(rows.at(name_of(form, length)).bytes);
    }
    chart.latency_ms.push_back(latency);
    chart.memory_bytes.push_back(memory);
  }
  return chart;
}

plot::RooflineChart roofline_chart(const Rows& rows) {
  plot::RooflineChart chart;
  chart.title = "a GPU";
  chart.roofs = {{"fp32", kPeak}};
  chart.memory = {{"DRAM", kBandwidth}};
  for (const int length : {256, 4096}) {
    for (const AttentionForm form : kForms) {
      const std::string label = name_of(form, length);
      const double intensity = study_flops(length) / study_traffic(form, length);
      chart.points.push_back(
          {label, intensity, std::min(kPeak, intensity * kBandwidth), PointKind::predicted});
      chart.points.push_back(
          {label, intensity, study_flops(length) / rows.at(label).ms * 1e3, PointKind::modelled});
    }
  }
  return chart;
}

template <typename Chart>
void add_files(CallEvidence& evidence, const std::string& name, const Chart& chart) {
  evidence.results[name + ".json"] = plot::to_json(chart);
  evidence.results[name + ".csv"] = plot::to_csv(chart);
  evidence.results[name + ".svg"] = plot::to_svg(chart);
}

/// What the adapter returns of rows and charts.
CallEvidence evidence_of(const Rows& rows, const plot::AttentionChart& attention,
                         const plot::RooflineChart& roofline) {
  CallEvidence evidence{.results = {}, .activity = marked_calls(), .keeps_records = true};
  evidence.results["flops_per_second"] = kPeak;
  evidence.results["bytes_per_second"] = kBandwidth;
  for (const auto& [name, row] : rows) {
    std::string key = name;
    key.replace(key.find(' '), 1, "_");
    evidence.results[key + "_ms"] = row.ms;
    evidence.results[key + "_bytes"] = static_cast<std::int64_t>(row.bytes);
    evidence.results[key + "_kernels"] = row.kernels;
  }
  add_files(evidence, "attention", attention);
  add_files(evidence, "roofline", roofline);
  return evidence;
}

CallEvidence evidence_of(const Rows& rows) {
  return evidence_of(rows, attention_chart(rows), roofline_chart(rows));
}

std::vector<Complaint> judge(const CallEvidence& evidence) {
  return oracle_registry().at("study")()->judge({}, evidence);
}

std::vector<std::string> codes(const CallEvidence& evidence) {
  std::vector<std::string> codes;
  for (const Complaint& complaint : judge(evidence)) codes.push_back(complaint.code.text());
  return codes;
}

/// Codes for a study whose row of "flash 1024" was changed, charts and all.
std::vector<std::string> codes_after(const std::function<void(Row&)>& change) {
  Rows rows = right_rows();
  change(rows["flash 1024"]);
  return codes(evidence_of(rows));
}

std::string first_message(const Rows& rows) { return judge(evidence_of(rows)).at(0).message.text; }

TEST(StudyRecordTest, CountsWhatBothFormsMoveAndKeep) {
  // 8 heads of 256 tokens, 64 wide: a matrix has 524,288 bytes, the scores have 2,097,152.
  EXPECT_EQ(study_flops(256), 4.0 * 8 * 256 * 256 * 64);
  EXPECT_EQ(study_memory(AttentionForm::standard, 256), 4 * 524'288.0 + 2'097'152.0);
  EXPECT_EQ(study_memory(AttentionForm::flash, 256), 4 * 524'288.0 + 8 * 256 * 4.0);
  EXPECT_EQ(study_traffic(AttentionForm::standard, 256), 4 * 524'288.0 + 4 * 2'097'152.0);
  EXPECT_EQ(study_traffic(AttentionForm::flash, 256), study_memory(AttentionForm::flash, 256));
}

TEST(StudyRecordTest, FindsTheCallsBetweenTheMarkers) {
  const auto calls = recorded_calls(marked_calls());
  ASSERT_EQ(calls.size(), 2 * std::size(kStudyLengths));
  for (const int length : kStudyLengths) {
    for (const AttentionForm form : kForms) {
      const RecordedCall& call = calls.at(name_of(form, length));
      EXPECT_EQ(call.kernels, kernels_of(form));
      EXPECT_NEAR(call.busy_ms, right_rows().at(name_of(form, length)).ms, 1e-9);
      EXPECT_NEAR(call.span_ms, call.busy_ms, 1e-9);
    }
  }
}

TEST(StudyRecordTest, HasNoKernelsWithoutMarkers) {
  for (const auto& [name, call] : recorded_calls({})) EXPECT_EQ(call.kernels, 0) << name;
}

TEST(StudyOracleTest, AcceptsTheRightStudy) {
  EXPECT_THAT(codes(evidence_of(right_rows())), IsEmpty());
}

TEST(StudyOracleTest, WantsARowForEachLength) {
  Rows rows = right_rows();
  CallEvidence evidence = evidence_of(rows);
  evidence.results.erase("standard_2048_ms");
  EXPECT_THAT(codes(evidence), ElementsAre("RL0535"));
}

TEST(StudyOracleTest, RefusesTimesThatAreNotTheDevices) {
  EXPECT_THAT(codes_after([](Row& row) { row.ms *= 1.5; }), ElementsAre("RL0537"));
  EXPECT_THAT(codes_after([](Row& row) { row.ms *= 0.9; }), ElementsAre("RL0537"));
  for (const double impossible : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    CallEvidence evidence = evidence_of(right_rows());
    evidence.results["flash_1024_ms"] = impossible;
    EXPECT_THAT(codes(evidence), ElementsAre("RL0537")) << impossible;
  }
}

/// Calls of one kernel, of which the second is timed, or the first.
simgpu::Activity timed_calls(bool warms_up, std::uint32_t blocks_before = 7) {
  simgpu::Activity activity;
  std::uint64_t sequence = 0;
  const auto call = [&](const char* name) {
    simgpu::ApiRecord record;
    record.sequence = ++sequence;
    record.name = name;
    activity.calls.push_back(record);
  };
  const auto launch = [&](std::uint32_t blocks) {
    simgpu::KernelRecord kernel;
    kernel.sequence = ++sequence;
    kernel.name = "flash";
    kernel.grid.x = blocks;
    activity.kernels.push_back(kernel);
  };
  if (warms_up) launch(blocks_before);
  for (const char* name : {"cudaEventRecord", "cudaEventRecord"}) {
    call(name);
    if (activity.calls.size() == 1) launch(7);
  }
  call("cudaEventElapsedTime");
  launch(7);
  return activity;
}

TEST(StudyRecordTest, TellsATimedCallThatIsTheFirstOfItsLength) {
  EXPECT_EQ(first_kernel_that_is_timed_cold(timed_calls(true)), "");
  EXPECT_EQ(first_kernel_that_is_timed_cold(timed_calls(false)), "flash");
  EXPECT_EQ(first_kernel_that_is_timed_cold(timed_calls(true, 3)), "flash");
  EXPECT_EQ(first_kernel_that_is_timed_cold({}), "");
}

TEST(StudyOracleTest, WantsACallToWarmUp) {
  CallEvidence evidence = evidence_of(right_rows());
  const simgpu::Activity cold = timed_calls(false);
  // Before the adapter's own calls, as the study is.
  for (simgpu::KernelRecord& kernel : evidence.activity.kernels) kernel.sequence += 100;
  for (simgpu::MemoryRecord& record : evidence.activity.memory) record.sequence += 100;
  for (simgpu::ApiRecord& record : evidence.activity.calls) record.sequence += 100;
  auto& kernels = evidence.activity.kernels;
  EXPECT_THAT(codes(evidence), IsEmpty());
  kernels.insert(kernels.begin(), cold.kernels.begin(), cold.kernels.end());
  auto& calls = evidence.activity.calls;
  calls.insert(calls.begin(), cold.calls.begin(), cold.calls.end());
  EXPECT_THAT(codes(evidence), ElementsAre("RL0537"));
}

TEST(StudyOracleTest, RefusesTimesOfLessThanAttention) {
  CallEvidence evidence = evidence_of(right_rows());
  for (simgpu::KernelRecord& kernel : evidence.activity.kernels) kernel.counters.flops.clear();
  EXPECT_THAT(codes(evidence), ElementsAre("RL0537"));
  for (simgpu::KernelRecord& kernel : evidence.activity.kernels) kernel.at_least = true;
  EXPECT_THAT(codes(evidence), IsEmpty()) << "nobody knows all of what it did";
}

TEST(StudyOracleTest, RefusesTimesOfKernelsThatMoveLessThanAttention) {
  const auto codes_of = [](const std::function<void(simgpu::KernelCounters&)>& change) {
    CallEvidence evidence = evidence_of(right_rows());
    for (simgpu::KernelRecord& kernel : evidence.activity.kernels) change(kernel.counters);
    return codes(evidence);
  };
  EXPECT_THAT(codes_of([](auto& counters) { counters.global_load_bytes /= 2; }),
              ElementsAre("RL0537"));
  EXPECT_THAT(codes_of([](auto& counters) { counters.global_store_bytes /= 2; }),
              ElementsAre("RL0537"));
}

TEST(StudyOracleTest, RefusesMemoryThatTheDeviceNeverSaw) {
  CallEvidence evidence = evidence_of(right_rows());
  evidence.activity.peak_allocated /= 2;
  EXPECT_THAT(codes(evidence), ElementsAre("RL0536"));
  evidence = evidence_of(right_rows());
  evidence.activity.calls.clear();
  EXPECT_THAT(codes(evidence), ElementsAre("RL0536"));
  evidence = evidence_of(right_rows());
  for (simgpu::ApiRecord& call : evidence.activity.calls) ++call.sequence;
  EXPECT_THAT(codes(evidence), IsEmpty());
}

TEST(StudyOracleTest, ComparesWhatComesOutOfEachForm) {
  const auto oracle = oracle_registry().at("study")();
  for (const AttentionForm form : kForms) {
    const Values parameters{{"form", name_of(form)}, {"length", std::int64_t{40}}};
    const Problem problem = oracle->make(parameters, 1);
    const std::vector<Expected> outputs = oracle->expect(problem);
    ASSERT_EQ(outputs.size(), form == AttentionForm::flash ? 2U : 1U);
    EXPECT_EQ(outputs[0].tensor, "out");
    CallEvidence evidence{.results = {}, .activity = {}, .keeps_records = true};
    simgpu::KernelRecord kernel;
    kernel.counters.flops["fp32"] = static_cast<std::uint64_t>(study_flops(40));
    const LeastTraffic traffic = least_traffic(form, 40);
    kernel.counters.global_load_bytes = static_cast<std::uint64_t>(traffic.loaded);
    kernel.counters.global_store_bytes = static_cast<std::uint64_t>(traffic.stored);
    evidence.activity.kernels = {kernel};
    evidence.activity.peak_allocated = static_cast<std::uint64_t>(study_memory(form, 40));
    EXPECT_THAT(oracle->judge(problem, evidence), IsEmpty());
    evidence.activity.peak_allocated *= 2;
    EXPECT_EQ(oracle->judge(problem, evidence).at(0).code, Code("RL0536"));
    evidence.activity.kernels.clear();
    EXPECT_EQ(oracle->judge(problem, evidence).at(0).code, Code("RL0537"));
  }
}

TEST(StudyOracleTest, KnowsSecondsAndSumsOfCalls) {
  Rows rows = right_rows();
  rows["flash 4096"].ms *= 1e-3;
  EXPECT_THAT(first_message(rows), HasSubstr("in seconds"));
  rows = right_rows();
  rows["flash 4096"].ms *= 3;
  EXPECT_THAT(first_message(rows), HasSubstr("three calls"));
}

TEST(StudyOracleTest, RefusesWrongMemory) {
  Rows rows = right_rows();
  Row& row = rows["standard 4096"];
  row.bytes = study_array_bytes(AttentionForm::standard, 4096);
  EXPECT_THAT(first_message(rows), HasSubstr("scores are left out"));
  row.bytes = study_memory(AttentionForm::standard, 4096) - row.bytes;
  EXPECT_THAT(first_message(rows), HasSubstr("arrays are left out"));
  EXPECT_THAT(codes_after([](Row& flash) { flash.bytes *= 2; }), ElementsAre("RL0536"));
  rows = right_rows();
  Row& flash = rows["flash 4096"];
  flash.bytes -= study_arrays(AttentionForm::flash, 4096).at(0).adds.at("bytes");
  EXPECT_THAT(first_message(rows), HasSubstr("one of q, k, v and out is missing; flash 4096"));
  rows = right_rows();
  rows["standard 4096"].bytes -= study_arrays(AttentionForm::standard, 4096).at(0).adds.at("bytes");
  EXPECT_THAT(first_message(rows), HasSubstr("one of q, k, v and out is missing; standard 4096"));
}

TEST(StudyOracleTest, RefusesAWrongNumberOfKernels) {
  EXPECT_THAT(codes_after([](Row& row) { row.kernels = 6; }), ElementsAre("RL0538"));
  EXPECT_THAT(codes_after([](Row& row) { row.kernels = 0; }), ElementsAre("RL0538"));
}

TEST(StudyOracleTest, WantsChartsThatShowTheRows) {
  const Rows rows = right_rows();
  plot::AttentionChart attention = attention_chart(rows);
  attention.latency_ms[1].values[2] *= 0.5;
  EXPECT_THAT(codes(evidence_of(rows, attention, roofline_chart(rows))), ElementsAre("RL0535"));

  attention = attention_chart(rows);
  attention.lengths.back() = 8191;
  EXPECT_THAT(codes(evidence_of(rows, attention, roofline_chart(rows))), ElementsAre("RL0535"));

  attention = attention_chart(rows);
  attention.memory_bytes[0].label = "sdpa";
  EXPECT_THAT(codes(evidence_of(rows, attention, roofline_chart(rows))), ElementsAre("RL0535"));
}

TEST(StudyOracleTest, WantsAllFilesOfBothCharts) {
  for (const char* chart : {"attention", "roofline"}) {
    for (const char* kind : {".json", ".csv", ".svg"}) {
      CallEvidence evidence = evidence_of(right_rows());
      evidence.results[chart + std::string(kind)] = std::string();
      EXPECT_THAT(codes(evidence), ElementsAre("RL0450")) << chart << kind;
    }
    CallEvidence evidence = evidence_of(right_rows());
    evidence.results[chart + std::string(".json")] = std::string(1 << 18, '[');
    EXPECT_THAT(codes(evidence), ElementsAre("RL0451")) << chart;
  }
}

/// Codes for the right rows with a changed roofline chart.
std::vector<std::string> roofline_codes(const std::function<void(plot::RooflineChart&)>& change) {
  const Rows rows = right_rows();
  plot::RooflineChart chart = roofline_chart(rows);
  change(chart);
  return codes(evidence_of(rows, attention_chart(rows), chart));
}

TEST(StudyOracleTest, WantsTheEightPointsAtTheirPlaces) {
  EXPECT_THAT(roofline_codes([](auto& chart) { chart.points.pop_back(); }), ElementsAre("RL0452"));
  EXPECT_THAT(roofline_codes([](auto& chart) { chart.roofs[0].flops_per_second *= 2; }),
              ElementsAre("RL0452"));
  EXPECT_THAT(roofline_codes([](auto& chart) { chart.points[0].label = "flash 512"; }),
              ElementsAre("RL0453"));
  EXPECT_THAT(roofline_codes([](auto& chart) { chart.points[1].kind = PointKind::measured; }),
              ElementsAre("RL0453"));
  EXPECT_THAT(roofline_codes([](auto& chart) { chart.points[2].intensity /= 2; }),
              ElementsAre("RL0454"));
  EXPECT_THAT(roofline_codes([](auto& chart) { chart.points[2].flops_per_second *= 1.1; }),
              ElementsAre("RL0455"));
  EXPECT_THAT(roofline_codes([](auto& chart) { chart.points[3].flops_per_second *= 1.1; }),
              ElementsAre("RL0457"));
}

TEST(StudyOracleTest, KnowsTheIntensityOfTheOtherForm) {
  const Rows rows = right_rows();
  plot::RooflineChart chart = roofline_chart(rows);
  chart.points[2].intensity = chart.points[0].intensity;
  const auto complaints = judge(evidence_of(rows, attention_chart(rows), chart));
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_THAT(complaints[0].message.text, HasSubstr("the other form"));
}

TEST(StudyOracleTest, AsksOnlyForPossibleTimesWhereNoRecordsAreKept) {
  Rows rows = right_rows();
  plot::RooflineChart chart = roofline_chart(rows);
  for (plot::Point& point : chart.points) {
    if (point.kind == PointKind::modelled) point.kind = PointKind::measured;
  }
  CallEvidence evidence = evidence_of(rows, attention_chart(rows), chart);
  evidence.keeps_records = false;
  evidence.activity = {};
  EXPECT_THAT(codes(evidence), IsEmpty());
  evidence.results["flash_4096_ms"] = 1e-9;
  EXPECT_THAT(codes(evidence), ElementsAre("RL0537"));
  evidence.results["flash_4096_ms"] = 0.0;
  EXPECT_THAT(codes(evidence), ElementsAre("RL0537"));
}

TEST(StudyOracleTest, DrawsItsOwnChartsAndTheTable) {
  const auto files = oracle_registry().at("study")()->artifacts({}, evidence_of(right_rows()));
  EXPECT_EQ(files.size(), 6U);
  EXPECT_THAT(files.at("attention.svg"), HasSubstr("<svg"));
  EXPECT_THAT(files.at("study.csv"), HasSubstr("\n4096,"));
}

}  // namespace
}  // namespace rooflab
