#include "grader/pipeline/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "grader/diagnose/tensor_places.h"
#include "grader/pipeline/check.h"
#include "grader/pipeline/device_work.h"
#include "grader/pipeline/too_slow.h"
#include "grader/pipeline/wrapped_index.h"
#include "simgpu/notice.h"
#include "simgpu/warp_pairs.h"

namespace rooflab {
namespace {

using End = RunOutcome::End;
using simgpu::Finding;
using simgpu::FindingKind;
using simgpu::is_notice;

/// More stories than these hide the first, which is the one to read.
constexpr std::size_t kMostStories = 3;
/// Of fewer elements, several mistakes make the same.
constexpr std::size_t kFewestTelling = 32;
constexpr Code kEndlessKernel = "RL0307";

bool is_race(const Finding& finding) {
  return finding.kind() == FindingKind::shared_race || finding.kind() == FindingKind::global_race;
}

bool is_divergent_barrier(const Finding& finding) {
  return finding.kind() == FindingKind::divergent_barrier;
}

/// The findings of a launch are told with their cause first: threads that miss a barrier race.
bool is_race_or_its_cause(const Finding& finding) {
  return is_race(finding) || is_divergent_barrier(finding);
}

bool is_misuse(const Finding& finding) { return finding.kind() == FindingKind::invalid_api_use; }

bool is_error(const Finding& finding) { return !is_race(finding) && !is_notice(finding); }

/// The text of a stub comes from the submission, so that of a hidden case is dropped.
Diagnostic explain_stub(const RunOutcome& outcome, const DiagnoseContext& context) {
  if (context.hidden) return explain_not_implemented(context.file, 0, "", context);
  const Thrown& at = outcome.thrown;
  return explain_not_implemented(at.line == 0 ? context.file : at.file, at.line, outcome.detail,
                                 context);
}

/// Whether a fault stopped a launch: what it left unwritten says nothing about the mistake.
bool was_aborted(const simgpu::Activity& activity) { return !activity.error.empty(); }

/// The outputs that are not as expected; where the device left out blocks, of what the others have
/// written.
SettledCheck compared(const JudgedRun& run, const std::vector<Expected>& expected) {
  const RunOutcome& outcome = run.outcome;
  if (outcome.sampled || is_cut_short(outcome) || run.problem.vast) {
    // Where samples do not tell, a case that asks for them runs in full: they have to tell of all.
    // Of what took too long, they tell what a grid writes only about.
    constexpr double kAboutAll = 0.9;
    const bool may_run_in_full = run.spec.sampled && !is_cut_short(outcome);
    return check_settled(run.problem, expected, outcome.outputs, outcome.settled,
                         may_run_in_full ? 1 : kAboutAll);
  }
  return {.wrong = wrong_tensors(run.problem, expected, outcome.outputs), .tells = true};
}

Judgement from_findings(const JudgedRun& run, Verdict verdict, bool (*wanted)(const Finding&)) {
  Judgement judgement{verdict, {}};
  std::vector<TensorCheck> wrong;
  if (run.oracle != nullptr && !run.outcome.outputs.empty() && !was_aborted(run.outcome.activity)) {
    wrong = compared(run, run.oracle->expect(run.problem)).wrong;
  }
  const std::vector<Finding> all = of_two_warps_first(run.outcome.activity.findings);
  for (const Finding& finding : all) {
    if (!wanted(finding) || judgement.diagnostics.size() == kMostStories) continue;
    const TensorCheck* effect =
        wrong.empty() || !judgement.diagnostics.empty() ? nullptr : &wrong.front();
    const Finding cause = with_tensor_elements(with_cause(finding, all), run.problem,
                                               run.context.hidden ? AxisNames{} : run.task.axes);
    judgement.diagnostics.push_back(explain_finding(cause, run.context, effect));
    if (std::string help = help_by_sizes(cause, run.problem);
        !help.empty() && !run.context.hidden) {
      judgement.diagnostics.back().help = std::move(help);
    }
    // What was refused may have thrown: of several such calls, only the last can have.
    if (is_misuse(finding) &&
        &finding == &*std::ranges::find_if(all.rbegin(), all.rend(), is_misuse)) {
      add_failed_call(judgement.diagnostics.back(), run.outcome, run.context);
    }
  }
  return judgement;
}

std::optional<Verdict> resource_limit(End end) {
  switch (end) {
    case End::memory_limit:
      return Verdict::memory_limit;
    case End::output_limit:
      return Verdict::output_limit;
    case End::disk_limit:
      return Verdict::disk_limit;
    default:
      return std::nullopt;
  }
}

/// Any end but a plain return; nothing when the call came back and left no error.
std::optional<Judgement> judge_end(const JudgedRun& run) {
  const RunOutcome& outcome = run.outcome;
  const auto& findings = outcome.activity.findings;
  const auto told = [&](Verdict verdict) {
    return Judgement{verdict, {explain_end(outcome, run.context)}};
  };
  if (outcome.end == End::device_fault) {
    return Judgement{Verdict::grader_fault, {explain_grader_fault(outcome.detail, run.context)}};
  }
  if (outcome.end == End::not_implemented) {
    return Judgement{Verdict::not_implemented, {explain_stub(outcome, run.context)}};
  }
  const auto disorder = std::ranges::find_if(findings, is_race_or_its_cause);
  if (disorder != findings.end()) {
    if (is_race(*disorder)) return from_findings(run, Verdict::race, is_race);
    return from_findings(run, Verdict::runtime_error, is_divergent_barrier);
  }
  if (const auto limit = resource_limit(outcome.end)) return told(*limit);
  const auto error = std::ranges::find_if(findings, is_error);
  if (error != findings.end()) {
    const bool endless = error->code == kEndlessKernel || error->kind() == FindingKind::too_long;
    return from_findings(run, endless ? Verdict::time_limit : Verdict::runtime_error, is_error);
  }
  if (outcome.end == End::time_limit) return told(Verdict::time_limit);
  if (outcome.end != End::returned) return told(Verdict::runtime_error);
  if (outcome.activity.calls_left_out > 0) {
    return Judgement{Verdict::runtime_error,
                     {explain_unrecorded_calls(simgpu::kMostRecords, run.context)}};
  }
  if (outcome.activity.work_unjudged > 0) {
    return Judgement{Verdict::runtime_error, {explain_unwatched_work(run.context)}};
  }
  if (outcome.cuda_error.empty() && outcome.activity.error.empty()) return std::nullopt;
  RunOutcome named = outcome;
  if (named.cuda_error.empty()) named.cuda_error = outcome.activity.error;
  return Judgement{Verdict::runtime_error, {explain_end(named, run.context)}};
}

bool has_output(const Problem& problem) {
  return std::ranges::any_of(problem.tensors,
                             [](const Tensor& tensor) { return tensor.role == Role::output; });
}

Telling telling_of(const Diagnostic& story, std::size_t compared) {
  if (!tells_more_than_wrong(story)) return Telling::nothing;
  return names_cause(story) && compared >= kFewestTelling ? Telling::cause : Telling::pattern;
}

/// The order in which the stories of several tensors are told: causes, what was never written, how
/// other values look.
int telling_rank(const Diagnostic& story) {
  if (names_cause(story)) return 0;
  return story.code == "RL0403" ? 1 : 2;
}

struct ExplainedTensor {
  Diagnostic story;
  std::optional<Diagnostic> without_cause = {};  ///< Judgement::without_cause
  std::string doubtful_cause = {};               ///< Judgement::doubtful_cause
};

ExplainedTensor explain_tensor(const TensorCheck& check, const std::vector<KnownMistake>& mistakes,
                               const DiagnoseContext& context) {
  ExplainedTensor tensor{explain_mismatch(check, mistakes, context)};
  const auto known = std::ranges::find_if(
      mistakes, [&](const KnownMistake& mistake) { return reproduces(check, mistake); });
  if (known == mistakes.end() || known->code != tensor.story.code) return tensor;
  const auto other = std::find_if(known + 1, mistakes.end(), [&](const KnownMistake& mistake) {
    return mistake.cause != known->cause && reproduces(check, mistake);
  });
  if (other != mistakes.end()) {
    tensor.story.notes.push_back("another mistake gives the same here: " + other->cause);
  }
  const std::size_t evidence = evidence_of(check, *known);
  if (evidence >= kFewestTelling) return tensor;
  tensor.without_cause = explain_mismatch(check, {}, context);
  tensor.doubtful_cause = known->cause;
  if (!context.hidden) {
    tensor.story.notes.push_back(fmt::format(
        "only {} wrong value{} {} to this cause here; other mistakes may leave the same", evidence,
        evidence == 1 ? "" : "s", evidence == 1 ? "points" : "point"));
  }
  return tensor;
}

/// Causes that would make the tensors wrong in this case, and not as they are.
std::vector<std::string> causes_not_shown(const std::vector<TensorCheck>& wrong,
                                          const std::vector<KnownMistake>& mistakes) {
  std::set<std::string> shown, others;
  for (const KnownMistake& mistake : mistakes) {
    const bool is_shown = std::ranges::any_of(
        wrong, [&](const TensorCheck& check) { return reproduces(check, mistake); });
    (is_shown ? shown : others).insert(mistake.cause);
  }
  std::vector<std::string> not_shown;
  std::ranges::set_difference(others, shown, std::back_inserter(not_shown));
  return not_shown;
}

std::map<std::string, double> real_parameters(const Problem& problem) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : problem.parameters) {
    if (const auto* number = std::get_if<double>(&value)) numbers[name] = *number;
  }
  return numbers;
}

/// What wrong tensors come from.
void explain_tensors(const JudgedRun& run, const std::vector<Expected>& expected,
                     std::vector<TensorCheck> wrong, Judgement& judgement) {
  if (wrong.empty()) return;
  // What the oracle names first is computed first: what is wrong there may be all that is.
  std::ranges::stable_sort(wrong, {}, [&](const TensorCheck& check) {
    return std::ranges::find(expected, check.tensor, &Expected::tensor) - expected.begin();
  });
  auto mistakes = run.oracle->mistakes(run.problem);
  // First those that make all wrong tensors: one of these alone may be what many mistakes make.
  std::ranges::stable_partition(mistakes, [&](const KnownMistake& mistake) {
    return std::ranges::all_of(
        wrong, [&](const TensorCheck& check) { return reproduces(check, mistake); });
  });
  judgement.not_shown = causes_not_shown(wrong, mistakes);
  std::size_t compared = 0;
  std::vector<ExplainedTensor> explained;
  for (TensorCheck& check : wrong) {
    check.real_parameters = real_parameters(run.problem);
    explained.push_back(explain_tensor(check, mistakes, run.context));
    compared = std::max(compared, check.got.size());
  }
  std::ranges::stable_sort(
      explained, {}, [](const ExplainedTensor& tensor) { return telling_rank(tensor.story); });
  judgement.without_cause = explained.front().without_cause;
  judgement.doubtful_cause = explained.front().doubtful_cause;
  for (ExplainedTensor& tensor : explained) {
    judgement.diagnostics.push_back(std::move(tensor.story));
  }
  if (judgement.without_cause) compared = 0;
  judgement.telling = telling_of(judgement.diagnostics.front(), compared);
}

void check_tensors(const JudgedRun& run, Judgement& judgement) {
  for (const ChangedInput& input : changed_inputs(run.problem, run.outcome.outputs)) {
    judgement.diagnostics.push_back(
        explain_changed_input(input.tensor, input.changed, input.total, run.context));
  }
  if (run.oracle == nullptr) return;
  const std::vector<Expected> expected = run.oracle->expect(run.problem);
  SettledCheck check = compared(run, expected);
  judgement.is_uncompared = !check.tells;
  judgement.shows_too_little = check.shows_too_little;
  explain_tensors(run, expected, std::move(check.wrong), judgement);
}

/// Of a run that was cut short, with all that came before in order: what it has left that is final.
/// What followed the cut, be it the end of the process, is not the submission's doing.
Judgement judge_cut_short(const JudgedRun& run) {
  Judgement judgement;
  judgement.is_uncompared = true;
  if (run.oracle == nullptr || run.task.kind != TaskKind::kernel) return judgement;
  const std::vector<Expected> expected = run.oracle->expect(run.problem);
  SettledCheck check = compared(run, expected);
  judgement.is_uncompared = !check.tells;
  judgement.shows_too_little = check.shows_too_little;
  explain_tensors(run, expected, std::move(check.wrong), judgement);
  const Work work = run.oracle->work(run.problem.parameters);
  if (auto detour = round_trip(run.problem, work, run.outcome.activity, run.gpu)) {
    if (run.context.hidden) detour->reason = detour->without_figures;
    judgement.diagnostics.push_back(explain_detour(detour->reason, run.context));
  }
  if (!judgement.diagnostics.empty()) judgement.verdict = Verdict::wrong_answer;
  return judgement;
}

/// Of a vast problem: what the blocks that ran have left, and whether all of them write enough.
Judgement judge_vast(const JudgedRun& run) {
  Judgement judgement;
  if (run.oracle == nullptr) return judgement;
  const std::vector<Expected> expected = run.oracle->expect(run.problem);
  explain_tensors(run, expected, compared(run, expected).wrong, judgement);
  if (judgement.diagnostics.empty()) {
    if (const auto wrapped = wrapped_index(run.problem, run.outcome)) {
      judgement.diagnostics.push_back(
          explain_vast_unwritten(*wrapped, counts_beyond_int(run.problem), run.context));
      judgement.telling = Telling::cause;
    }
  } else {
    add_vast_cause(judgement.diagnostics.front(), counts_beyond_int(run.problem), std::nullopt);
  }
  if (!judgement.diagnostics.empty()) judgement.verdict = Verdict::wrong_answer;
  return judgement;
}

/// Of an access outside of memory the index is what went wrong.
void explain_vast_end(const JudgedRun& run, Judgement& judgement) {
  if (judgement.verdict != Verdict::runtime_error || judgement.diagnostics.empty()) return;
  add_vast_cause(judgement.diagnostics.front(), counts_beyond_int(run.problem),
                 lost_block(run.problem, run.outcome));
}

void check_results(const JudgedRun& run, Judgement& judgement) {
  Values expected = run.spec.expect;
  if (expected.empty() && run.oracle != nullptr) expected = run.oracle->expect_results(run.problem);
  const Values wrong = wrong_results(run.outcome.results, expected);
  if (wrong.empty()) return;
  const Diagnostic story =
      explain_results(run.outcome.results, wrong, run.task.ratios, run.spec, run.context);
  // A factor that the task declares has a cause of its own.
  if (!names_cause(story) && run.oracle != nullptr) {
    const auto cause = run.oracle->explain(run.problem, run.outcome.results, expected);
    if (cause) {
      judgement.diagnostics.push_back(explain_cause(*cause, story, run.context));
      if (cause->code == Code("RL0439")) judgement.without_cause = story;
    }
  }
  if (judgement.diagnostics.empty()) judgement.diagnostics.push_back(story);
  judgement.telling = telling_of(judgement.diagnostics.front(), kFewestTelling);
}

}  // namespace

bool is_limit(Verdict verdict) {
  switch (verdict) {
    case Verdict::time_limit:
    case Verdict::memory_limit:
    case Verdict::output_limit:
    case Verdict::disk_limit:
      return true;
    default:
      return false;
  }
}

void drop_cause(Judgement& judgement) {
  judgement.diagnostics.front() = *std::exchange(judgement.without_cause, std::nullopt);
  judgement.telling = Telling::nothing;
}

std::vector<Finding> of_two_warps_first(std::vector<Finding> findings) {
  const auto first = std::ranges::find_if(findings, is_race);
  if (first == findings.end() || !is_within_warp(*first)) return findings;
  const auto across = std::find_if(first, findings.end(), [&](const Finding& finding) {
    return finding.code == first->code && finding.kernel == first->kernel && finding.other &&
           !is_within_warp(finding);
  });
  if (across != findings.end()) std::rotate(first, across, across + 1);
  return findings;
}

CallEvidence evidence_of(const RunOutcome& outcome, const gpu_spec::GpuSpec& gpu) {
  CallEvidence evidence{outcome.results, outcome.activity, outcome.keeps_records};
  const auto fp32 = gpu.peak_flops.find("fp32");
  if (outcome.keeps_records && fp32 != gpu.peak_flops.end()) {
    evidence.peaks = {.flops_per_second = fp32->second,
                      .bytes_per_second = gpu.dram_bytes_per_second};
  }
  return evidence;
}

Judgement judge(const JudgedRun& run) {
  const simgpu::Activity& activity = run.outcome.activity;
  const bool nothing_before = std::ranges::none_of(activity.findings, is_error);
  const bool cut_short = is_cut_short(run.outcome) && nothing_before;
  if (!cut_short) {
    if (auto ended = judge_end(run)) {
      if (run.problem.vast) explain_vast_end(run, *ended);
      return *ended;
    }
  }
  if (const auto function = forbidden_call(activity, run.task.forbidden); !function.empty()) {
    return {Verdict::rejected, {explain_forbidden(function, 0, run.context)}};
  }
  if (run.problem.vast) return judge_vast(run);
  if (cut_short) return judge_cut_short(run);
  Judgement judgement;
  check_tensors(run, judgement);
  if (run.task.kind == TaskKind::values) check_results(run, judgement);
  if (judgement.diagnostics.empty() && run.oracle != nullptr) {
    const CallEvidence evidence = evidence_of(run.outcome, run.gpu);
    for (const Complaint& complaint : run.oracle->judge(run.problem, evidence)) {
      judgement.diagnostics.push_back(has_output(run.problem)
                                          ? explain_way(complaint, run.context)
                                          : explain_complaint(complaint, run.context));
      judgement.telling = Telling::cause;
    }
  }
  if (!judgement.diagnostics.empty()) {
    judgement.verdict = Verdict::wrong_answer;
    return judgement;
  }
  if (run.task.kind == TaskKind::kernel && run.oracle != nullptr) {
    const Work work = run.oracle->work(run.problem.parameters);
    auto operations = missing_operations(run.problem, work, activity, run.gpu);
    if (operations) {
      if (run.context.hidden) operations->reason = operations->without_figures;
      if (operations->kind == Doubt::Kind::not_computed) {
        return {Verdict::suspect, {explain_work_elsewhere(operations->reason, run.context)}};
      }
      if (operations->kind == Doubt::Kind::detour) {
        return {Verdict::wrong_answer, {explain_detour(operations->reason, run.context)}};
      }
      const std::string place = run.context.hidden ? "a hidden case" : run.context.case_name;
      judgement.for_people.push_back(place + ": " + operations->reason);
    }
  }
  if (std::ranges::any_of(activity.findings, is_notice)) {
    judgement.diagnostics = from_findings(run, Verdict::pass, is_notice).diagnostics;
  } else if (run.outcome.keeps_records) {
    if (auto story = explain_thin_blocks(activity, run.context)) {
      judgement.diagnostics.push_back(*std::move(story));
    }
  }
  return judgement;
}

}  // namespace rooflab
