#include "grader/pipeline/judge.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rooflab {
namespace {

using simgpu::Finding;
using simgpu::FindingKind;

Finding found(Code code) {
  Finding finding;
  finding.code = code;
  finding.kernel = "gemm";
  return finding;
}

Finding race() { return found("RL0302"); }
Finding barrier() { return found("RL0305"); }
Finding bounds() { return found("RL0201"); }
Finding leak() { return found("RL0309"); }

Judgement judge_outcome(const RunOutcome& outcome, DiagnoseContext context = {}) {
  const TaskSpec task;
  const CaseSpec spec;
  const Problem problem;
  const gpu_spec::GpuSpec gpu;
  return judge({.task = task,
                .spec = spec,
                .problem = problem,
                .oracle = nullptr,
                .outcome = outcome,
                .context = std::move(context),
                .gpu = gpu});
}

Judgement judge_findings(std::vector<Finding> findings) {
  RunOutcome outcome;
  outcome.activity.findings = std::move(findings);
  return judge_outcome(outcome);
}

void expect_told(std::vector<Finding> findings, Verdict verdict, Code code) {
  const Judgement judgement = judge_findings(std::move(findings));
  EXPECT_EQ(judgement.verdict, verdict);
  ASSERT_EQ(judgement.diagnostics.size(), 1U);
  EXPECT_EQ(judgement.diagnostics[0].code, code);
}

TEST(Judge, TellsTheDivergentBarrierRatherThanTheRacesThatFollowFromIt) {
  expect_told({barrier(), race()}, Verdict::runtime_error, "RL0305");
}

TEST(Judge, TellsARaceThatCameBeforeADivergentBarrierOfALaterLaunch) {
  expect_told({race(), barrier()}, Verdict::race, "RL0302");
}

TEST(Judge, TellsARaceRatherThanTheWildAddressThatItLedTo) {
  expect_told({race(), bounds()}, Verdict::race, "RL0302");
  expect_told({bounds(), race()}, Verdict::race, "RL0302");
}

TEST(Judge, TellsTheRaceOfTwoWarpsRatherThanOneWithinAWarp) {
  Finding within = race();
  within.where.line = 27;
  within.other = simgpu::AccessSite{"gemm.cu", 31, 5, {0, 0, 0}, {1, 0, 0}, 0, "reads 4 bytes"};
  Finding across = within;
  across.where.line = 28;
  across.other->warp = 1;
  const Judgement judgement = judge_findings({within, across});
  ASSERT_EQ(judgement.diagnostics.size(), 2U);
  EXPECT_EQ(judgement.diagnostics[0].line, 28U);
  EXPECT_EQ(judgement.diagnostics[1].line, 27U);
}

/// Two outputs of zeros, of which the second is computed first.
class TwoOutputs : public Oracle {
 public:
  Problem make(const Values&, std::uint64_t) const override {
    Problem problem;
    for (const char* name : {"result", "cache"}) {
      Tensor tensor;
      tensor.name = name;
      tensor.role = Role::output;
      tensor.shape = {kCount};
      problem.tensors.push_back(std::move(tensor));
    }
    return problem;
  }
  std::vector<Expected> expect(const Problem&) const override {
    return {holding("cache", 0), holding("result", 0)};
  }
  std::vector<KnownMistake> mistakes(const Problem&) const override {
    return {{"RL0485", "makes the cache alone", "", {holding("cache", 1), holding("result", 5)}},
            {"RL0486", "makes both", "", {holding("cache", 1), holding("result", 2)}}};
  }

  static constexpr std::int64_t kCount = 64;

 private:
  static Expected holding(const char* tensor, double value) {
    return {tensor, std::vector<double>(kCount, value), std::vector<double>(kCount, 1e-6)};
  }
};

std::vector<std::byte> floats_of_value(float value) {
  const std::vector<float> values(TwoOutputs::kCount, value);
  const auto* const begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(float)};
}

TEST(Judge, TellsWhatIsComputedFirstAndTheMistakeThatMakesAllThatIsWrong) {
  const TwoOutputs oracle;
  const auto judged = [&](float result, float cache) {
    RunOutcome outcome;
    outcome.outputs = {floats_of_value(result), floats_of_value(cache)};
    const TaskSpec task;
    const CaseSpec spec;
    const Problem problem = oracle.make({}, 1);
    const gpu_spec::GpuSpec gpu;
    return judge({.task = task,
                  .spec = spec,
                  .problem = problem,
                  .oracle = &oracle,
                  .outcome = outcome,
                  .context = {},
                  .gpu = gpu})
        .diagnostics;
  };
  EXPECT_EQ(judged(2, 1).at(0).code, Code("RL0486"));
  EXPECT_EQ(judged(7, 1).at(0).code, Code("RL0485"));
  EXPECT_NE(judged(7, 8).at(0).message.find("cache"), std::string::npos);
}

TEST(Judge, DropsWhatAStubSaysInAHiddenCase) {
  RunOutcome outcome;
  outcome.end = RunOutcome::End::not_implemented;
  outcome.detail = "4096";
  outcome.thrown = {"gemm.cu", 4096, ""};
  DiagnoseContext context;
  context.hidden = true;
  const Judgement judgement = judge_outcome(outcome, context);
  EXPECT_EQ(judgement.verdict, Verdict::not_implemented);
  EXPECT_EQ(judgement.diagnostics.at(0).message, "still a TODO");
  EXPECT_EQ(judgement.diagnostics.at(0).line, 0U);
}

/// What is said of a vast case without an oracle.
Judgement judge_vast_outcome(const RunOutcome& outcome) {
  const TaskSpec task;
  const CaseSpec spec;
  const Tensor output{"y", ElementType::bfloat16, Role::output, {std::int64_t{6} << 30}, {}};
  const Problem problem{.parameters = {}, .tensors = {output}, .vast = true};
  const gpu_spec::GpuSpec gpu;
  DiagnoseContext context;
  context.hidden = true;
  return judge({.task = task,
                .spec = spec,
                .problem = problem,
                .oracle = nullptr,
                .outcome = outcome,
                .context = context,
                .gpu = gpu});
}

TEST(Judge, NamesTheBlockWhoseIndexOf32BitsWraps) {
  RunOutcome outcome;
  Finding finding = bounds();
  finding.message = "This thread reads outside of memory";
  finding.where.block = {1048576, 0, 0};
  finding.where.thread = {7, 0, 0};
  outcome.activity.findings = {finding};
  outcome.activity.kernels.resize(1);
  outcome.activity.kernels[0].grid = {3 << 20, 1, 1};
  outcome.activity.kernels[0].failed = true;
  const Judgement judgement = judge_vast_outcome(outcome);
  EXPECT_EQ(judgement.verdict, Verdict::runtime_error);
  const Diagnostic& story = judgement.diagnostics.at(0);
  EXPECT_EQ(story.message.find("an index of 32 bits wraps beyond 2147483647 elements"), 0U);
  EXPECT_EQ(story.evidence.back(),
            "block (1048576,0), thread (7,0): the share of its block begins at about "
            "y[2147483648]");
}

TEST(Judge, DoesNotBlameAnIndexThatWrapsForAnElementBehindTheEnd) {
  RunOutcome outcome;
  Finding finding = bounds();
  finding.message = "This thread reads outside of memory";
  finding.places = {{.space = simgpu::ArraySpace::global, .bytes = 1024, .offset = 1024}};
  outcome.activity.findings = {finding};
  outcome.activity.kernels.resize(1);
  outcome.activity.kernels[0].grid = {3 << 20, 1, 1};
  outcome.activity.kernels[0].failed = true;
  const Judgement judgement = judge_vast_outcome(outcome);
  const std::string& message = judgement.diagnostics.at(0).message;
  EXPECT_EQ(message.find("an index of 32 bits"), std::string::npos) << message;
}

TEST(Judge, DoesNotBlameAnIndexForWhatEndsAVastCaseOtherwise) {
  RunOutcome outcome;
  outcome.end = RunOutcome::End::not_implemented;
  EXPECT_EQ(judge_vast_outcome(outcome).verdict, Verdict::not_implemented);
  EXPECT_EQ(judge_vast_outcome(outcome).diagnostics.at(0).message, "still a TODO");
  outcome.end = RunOutcome::End::killed;
  const Judgement killed = judge_vast_outcome(outcome);
  EXPECT_EQ(killed.verdict, Verdict::runtime_error);
  EXPECT_EQ(killed.diagnostics.at(0).message.find("an index"), std::string::npos);
}

TEST(Judge, TakesNoCallOfWhichTheDeviceHasNotRecordedAll) {
  RunOutcome outcome;
  outcome.activity.calls_left_out = 1;
  const Judgement judgement = judge_vast_outcome(outcome);
  EXPECT_EQ(judgement.verdict, Verdict::runtime_error);
  EXPECT_EQ(judgement.diagnostics.at(0).code, Code("RL0615"));
}

TEST(Judge, TakesNoCallWhoseStreamsTheDeviceCouldNotWatch) {
  RunOutcome outcome;
  outcome.activity.work_unjudged = 1;
  const Judgement judgement = judge_vast_outcome(outcome);
  EXPECT_EQ(judgement.verdict, Verdict::runtime_error);
  EXPECT_EQ(judgement.diagnostics.at(0).code, Code("RL0615"));
}

TEST(Judge, LetsALeakPassWithAWord) { expect_told({leak()}, Verdict::pass, "RL0309"); }

TEST(Judge, LetsACallPassWithAWordInWhichNotEveryRaceWasLookedFor) {
  expect_told({found("RL0615")}, Verdict::pass, "RL0615");
  expect_told({found("RL0615"), race()}, Verdict::race, "RL0302");
}

}  // namespace
}  // namespace rooflab
