#include "grader/pipeline/judge.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rooflab {
namespace {

using simgpu::Finding;
using simgpu::FindingKind;

Finding found(FindingKind kind, const std::string& code) {
  Finding finding;
  finding.kind = kind;
  finding.code = code;
  finding.kernel = "gemm";
  return finding;
}

Finding race() { return found(FindingKind::shared_race, "RL0302"); }
Finding barrier() { return found(FindingKind::divergent_barrier, "RL0305"); }
Finding bounds() { return found(FindingKind::out_of_bounds, "RL0201"); }
Finding leak() { return found(FindingKind::leak, "RL0309"); }

Judgement judge_outcome(const RunOutcome& outcome, DiagnoseContext context = {}) {
  const TaskSpec task;
  const CaseSpec spec;
  const Problem problem;
  return judge({.task = task,
                .spec = spec,
                .problem = problem,
                .oracle = nullptr,
                .outcome = outcome,
                .context = std::move(context)});
}

Judgement judge_findings(std::vector<Finding> findings) {
  RunOutcome outcome;
  outcome.activity.findings = std::move(findings);
  return judge_outcome(outcome);
}

void expect_told(std::vector<Finding> findings, Verdict verdict, const std::string& code) {
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

TEST(Judge, DropsWhatAStubSaysInAHiddenCase) {
  RunOutcome outcome;
  outcome.end = RunOutcome::End::not_implemented;
  outcome.detail = "gemm.cu:4096: 4096";
  DiagnoseContext context;
  context.hidden = true;
  const Judgement judgement = judge_outcome(outcome, context);
  EXPECT_EQ(judgement.verdict, Verdict::not_implemented);
  EXPECT_EQ(judgement.diagnostics.at(0).message, "still a TODO");
  EXPECT_EQ(judgement.diagnostics.at(0).line, 0U);
}

TEST(Judge, LetsALeakPassWithAWord) { expect_told({leak()}, Verdict::pass, "RL0309"); }

}  // namespace
}  // namespace rooflab
