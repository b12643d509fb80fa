#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/contract/oracle.h"
#include "labs/part3-decoder/oracle/layer_study_calls.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kPeak = 20e12;

TEST(LayerStudyTest, CountsAsTheHeaderDoes) {
  // By loops over tokens, keys and arrays.
  const auto calls = study_calls();
  EXPECT_EQ(cost_flops(calls.front()), 724330816.0);
  EXPECT_EQ(cost_flops(calls[6]), 187371952.0);
  EXPECT_EQ(cost_flops(calls.back()), 23448332288.0);
  EXPECT_EQ(words_of(calls[6]), "the decode of 16 texts of 128 tokens with a cache");
}

/// A call takes as long as a tenth of the peak needs for it.
double ms_of(const StudyCall& call) { return cost_flops(call) / (0.1 * kPeak) * 1e3; }

/// Two timed calls of each kind, one kernel for each, with a call to warm up.
simgpu::Activity timed_calls() {
  simgpu::Activity activity;
  std::uint64_t sequence = 0;
  double now_us = 0;
  const auto host = [&](const char* name) {
    simgpu::ApiRecord record;
    record.sequence = sequence++;
    record.name = name;
    activity.calls.push_back(record);
  };
  for (const StudyCall& call : study_calls()) {
    const auto launch = [&] {
      simgpu::KernelRecord kernel;
      kernel.sequence = sequence++;
      kernel.name = words_of(call);
      kernel.start_us = now_us;
      kernel.time.total_us = 1e3 * ms_of(call);
      kernel.counters.flops["fp32"] = static_cast<std::uint64_t>(cost_flops(call));
      now_us += kernel.time.total_us;
      activity.kernels.push_back(kernel);
    };
    launch();
    host("cudaEventRecord");
    launch();
    launch();
    host("cudaEventRecord");
    host("cudaEventElapsedTime");
  }
  return activity;
}

template <typename Sizes>
void add_chart(CallEvidence& evidence, const std::string& name, const Sizes& sizes,
               const std::vector<std::pair<const char*, StudyKind>>& lines) {
  plot::LatencyChart chart{.title = "a GPU", .x_label = name, .x = {}, .latency_ms = {}};
  for (const auto size : sizes) chart.x.push_back(std::to_string(size));
  for (const auto& [label, kind] : lines) {
    plot::Series series{label, {}};
    for (const StudyCall& call : study_calls()) {
      if (call.kind == kind) series.values.push_back(ms_of(call));
    }
    chart.latency_ms.push_back(series);
  }
  evidence.results[name + ".json"] = plot::to_json(chart);
  evidence.results[name + ".csv"] = plot::to_csv(chart);
  evidence.results[name + ".svg"] = plot::to_svg(chart);
}

/// What the adapter returns of a right study.
CallEvidence right_evidence() {
  CallEvidence evidence{.results = {}, .activity = timed_calls(), .keeps_records = true};
  evidence.results["flops_per_second"] = kPeak;
  for (const StudyCall& call : study_calls()) {
    const std::string name = name_of(call.kind) + "_" + std::to_string(call.index) + "_";
    const double tokens = static_cast<double>(
        call.kind == StudyKind::prefill ? call.batch * call.length : call.batch);
    evidence.results[name + "batch"] = call.batch;
    evidence.results[name + "length"] = call.length;
    evidence.results[name + "ms"] = ms_of(call);
    evidence.results[name + "tokens_per_second"] = tokens / ms_of(call) * 1e3;
    evidence.results[name + "utilisation"] = 0.1;
  }
  add_chart(evidence, "prefill", study_lengths(), {{"prefill", StudyKind::prefill}});
  add_chart(
      evidence, "decode", study_batches(),
      {{"with a cache", StudyKind::decode}, {"without a cache", StudyKind::decode_without_cache}});
  return evidence;
}

/// What is told of a study.
std::string told(const CallEvidence& evidence) {
  const auto oracle = oracle_registry().at("layer_study")();
  const auto complaints = oracle->judge(oracle->make({}, 1), evidence);
  return complaints.empty() ? "" : complaints.front().message.text;
}

TEST(LayerStudyTest, TakesARightStudyWithRecordsAndWithout) {
  CallEvidence evidence = right_evidence();
  EXPECT_THAT(told(evidence), IsEmpty());
  evidence.keeps_records = false;
  evidence.activity = {};
  EXPECT_THAT(told(evidence), IsEmpty());
}

TEST(LayerStudyTest, NamesWhatIsWrongWithARow) {
  CallEvidence evidence = right_evidence();
  evidence.results.erase("decode_1_ms");
  EXPECT_THAT(told(evidence), HasSubstr("no row of the decode of 4 texts of 128 tokens with"));

  evidence = right_evidence();
  evidence.results["prefill_2_utilisation"] = 10.0;
  EXPECT_THAT(told(evidence), HasSubstr("in percent"));

  evidence = right_evidence();
  const auto calls = study_calls();
  evidence.results["decode_0_tokens_per_second"] = 128 / ms_of(calls[4]) * 1e3;
  EXPECT_THAT(told(evidence), HasSubstr("all tokens of the texts"));
}

TEST(LayerStudyTest, HoldsTimesAgainstTheWorkThatWasTimed) {
  CallEvidence evidence = right_evidence();
  evidence.results["prefill_0_ms"] = ms_of(study_calls().front()) / 1000;
  EXPECT_THAT(told(evidence), HasSubstr("in seconds"));

  evidence = right_evidence();
  evidence.results["prefill_0_ms"] = ms_of(study_calls().front()) * 2.2;
  EXPECT_THAT(told(evidence), HasSubstr("not the time that the device saw"));

  evidence = right_evidence();
  evidence.activity.calls.clear();
  EXPECT_THAT(told(evidence), HasSubstr("nothing that was timed"));

  evidence = right_evidence();
  for (simgpu::KernelRecord& kernel : evidence.activity.kernels) {
    for (auto& [type, flops] : kernel.counters.flops) flops /= 2;
  }
  EXPECT_THAT(told(evidence), HasSubstr("floating-point operations, and a layer takes"));
}

TEST(LayerStudyTest, DrawsTheChartsAnew) {
  const auto oracle = oracle_registry().at("layer_study")();
  const auto files = oracle->artifacts(oracle->make({}, 1), right_evidence());
  EXPECT_THAT(files.at("study.csv"), HasSubstr("decode_without_cache,16,128,"));
  EXPECT_THAT(files.at("decode.svg"), HasSubstr("without a cache"));
}

TEST(LayerStudyTest, RefusesChartsThatShowSomethingElse) {
  CallEvidence evidence = right_evidence();
  add_chart(evidence, "decode", study_batches(), {{"with a cache", StudyKind::decode}});
  EXPECT_THAT(told(evidence), HasSubstr("no series \"without a cache\""));
  evidence = right_evidence();
  evidence.results["prefill.svg"] = std::string("<svg/>");
  EXPECT_THAT(told(evidence), HasSubstr("not what prefill.json looks like"));
}

}  // namespace
}  // namespace rooflab
