#include "grader/pipeline/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "grader/diagnose/story.h"
#include "grader/diagnose/stream_story.h"
#include "grader/pipeline/check.h"
#include "grader/pipeline/counts.h"
#include "grader/pipeline/device_work.h"
#include "grader/pipeline/judge_repeats.h"
#include "grader/pipeline/reveal.h"
#include "grader/pipeline/seeds.h"
#include "grader/pipeline/too_slow.h"
#include "simgpu/source/early_returns.h"

namespace rooflab {
namespace {

/// The checkers run on a timed case of at most so many warp instructions, about two seconds of CPU
/// time. docs/design/targets.md says which tasks that covers.
constexpr std::uint64_t kMostCheckedInstructions = 10'000'000;

/// A student waits for all timed cases of a task. Once one was too slow to be simulated whole,
/// each further such one gets half as much work, down to this: looser bounds do.
constexpr double kLeastShareOfWork = 0.25;

/// Artifacts become files in a folder of reports.
void require_plain_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  if (!name.empty() && name.front() != '.' && std::ranges::all_of(name, is_plain)) return;
  throw OracleFault(fmt::format(
      "the oracle names an artifact \"{}\"; use lower-case letters, digits, ., _ and -", name));
}

std::map<std::string, std::string> artifacts_of(const Oracle& oracle, const Problem& problem,
                                                const RunOutcome& outcome) {
  const CallEvidence evidence{outcome.results, outcome.activity, outcome.keeps_records};
  auto artifacts = oracle.artifacts(problem, evidence);
  for (const auto& [name, text] : artifacts) require_plain_name(name);
  return artifacts;
}

/// The elements of each tensor that whole blocks of a call have written.
std::map<std::string, std::vector<ElementRange>> written_elements(const Problem& problem,
                                                                  const SettledPart& settled) {
  std::map<std::string, std::vector<ElementRange>> written;
  for (std::size_t i = 0; i < settled.written.size(); ++i) {
    const Tensor& tensor = problem.tensors.at(i);
    if (tensor.role == Role::input) continue;
    const std::size_t size = size_of(tensor.type);
    auto& elements = written[tensor.name];
    for (const simgpu::ByteRange& range : settled.written[i]) {
      const std::size_t first = (range.address + size - 1) / size;
      const std::size_t end = (range.address + range.bytes) / size;
      if (first < end) elements.push_back({first, end - first});
    }
  }
  return written;
}

/// Whether a case that asks for samples needs a run in full: nothing of its samples is wrong, but
/// they do not tell whether the rest is right.
bool samples_do_not_tell(const JudgedRun& run, const Judgement& judgement) {
  return run.spec.sampled && run.outcome.sampled && run.task.kind == TaskKind::kernel &&
         judgement.verdict == Verdict::pass && judgement.is_uncompared;
}

/// The same with all blocks. What was sampled may take longer than a case that was meant to run in
/// full.
RunRequest request_in_full(RunRequest request) {
  constexpr double kMoreWork = 8;
  request.sampled = false;
  request.share_of_work *= kMoreWork;
  return request;
}

/// What was found off the given stream, which is taken out of the outcome.
std::vector<simgpu::Finding> take_off_stream(RunOutcome& outcome) {
  std::vector<simgpu::Finding> taken;
  std::erase_if(outcome.activity.findings, [&](const simgpu::Finding& finding) {
    if (finding.code != kOffTheStream) return false;
    taken.push_back(finding);
    return true;
  });
  return taken;
}

/// A case that shows what a second call in one process makes of the first one: none of which the
/// device runs only a part.
bool is_whole(const CaseSpec& spec) { return !spec.sampled && spec.vast_gb == 0; }

}  // namespace

DiagnoseContext TaskScene::context() const {
  DiagnoseContext context = context_of(part, request, task());
  for (const NamedFile& file : built.files) context.sources[file.name] = file.submitted.text;
  return context;
}

CaseRun CaseRunner::run(const NumberedCase& numbered, bool timed) {
  const CaseSpec& spec = numbered.spec;
  const GradeTools& tools = scene_.tools;
  DiagnoseContext place = scene_.context();
  place.case_name = spec.name;
  place.case_number = numbered.number;
  place.hidden = spec.hidden;
  Problem problem = problem_of(spec, spec.name);
  CaseRun result;
  std::vector<simgpu::Finding> off_stream;
  const auto call = [&](const RunRequest& request) {
    result.outcome = run_with_retry(request);
    if (request.holds_to_stream) off_stream = take_off_stream(result.outcome);
    problem.written = written_elements(problem, result.outcome.settled);
  };
  call(request_of(problem, timed, numbered));
  result.bytes = tensor_bytes(problem);
  if (spec.shows_memory && !spec.hidden) result.peak_memory = peak_memory(result.outcome, problem);
  if (tools.observe && !spec.hidden) {
    tools.observe(scene_.task().id + ": " + spec.name, result.outcome.activity);
  }
  const JudgedRun run{scene_.task(),  spec,  problem,           oracle_,
                      result.outcome, place, tools.device.gpu()};
  result.judgement = judge(run);
  if (!problem.vast && samples_do_not_tell(run, result.judgement)) {
    scene_.tools.progress(fmt::format("{}: running all of {}", scene_.task().id, spec.name));
    call(request_in_full(request_of(problem, timed, numbered)));
    result.judgement = judge(run);
  }
  result.off_stream = judge_off_stream(run, std::move(off_stream));
  if (timed && is_cut_short(result.outcome)) ++too_slow_;
  if (!timed) look_closer(run, result);
  if (spec.hidden && result.judgement.verdict != Verdict::pass && tools.reveal) {
    tools.reveal(reveal_case(run, result.judgement.verdict));
  }
  if (result.judgement.verdict != Verdict::pass) return result;
  result.repeats = judge_repeats(run);
  if (!timed && result.repeats) {
    result.judgement = *result.repeats;
    return result;
  }
  if (oracle_ != nullptr) result.artifacts = artifacts_of(*oracle_, problem, result.outcome);
  return result;
}

/// @param draw names it; the same for the same grade
CaseSeeds CaseRunner::seeds_of(const std::string& draw) const {
  return case_seeds(scene_.request.seed, scene_.part.number, scene_.task().id, draw);
}

/// @param draw names the draw of the inputs; the same for the same grade
Problem CaseRunner::problem_of(const CaseSpec& spec, const std::string& draw) const {
  if (oracle_ == nullptr) return {spec.parameters, {}};
  const CaseSeeds seeds = seeds_of(draw);
  Problem problem = oracle_->make(spec.parameters, seeds.inputs);
  problem.selection = seeds.selection;
  return problem;
}

/// A case that fails by a wrong answer or an error is made once more under the device's checkers,
/// where it has any that do not watch every run: what they find becomes the verdict and the
/// story, as on a simulated GPU.
void CaseRunner::look_closer(const JudgedRun& run, CaseRun& result) {
  Judgement& judgement = result.judgement;
  const Device& device = scene_.tools.device;
  const bool may_have_a_cause = judgement.verdict == Verdict::wrong_answer ||
                                judgement.verdict == Verdict::runtime_error ||
                                judgement.verdict == Verdict::time_limit;
  if (!may_have_a_cause || looked_closer_ || device.checks_every_run()) return;
  looked_closer_ = true;  // it takes up to a minute: once for each task
  scene_.tools.progress(fmt::format("{}: checking {}", scene_.task().id, run.spec.name));
  const CheckedCall checked = scene_.tools.device.check(request_of(run.problem, false, {run.spec}));
  if (!checked.findings.empty()) {
    result.outcome.activity.findings = checked.findings;
    judgement = judge(run);
  } else if (!judgement.diagnostics.empty()) {
    auto& notes = judgement.diagnostics.front().notes;
    if (!checked.unavailable.empty()) {
      notes.push_back("nothing looked for races and wrong accesses: " + checked.unavailable);
    } else if (!checked.incomplete.empty()) {
      notes.push_back("races and wrong accesses may be unseen: " + checked.incomplete);
    }
  }
}

std::optional<Judgement> CaseRunner::judge_off_stream(const JudgedRun& run,
                                                      std::vector<simgpu::Finding> findings) const {
  if (findings.empty()) return std::nullopt;
  RunOutcome outcome;
  outcome.keeps_records = true;
  outcome.activity.findings = std::move(findings);
  return judge({run.task, run.spec, run.problem, run.oracle, outcome, run.context, run.gpu});
}

/// A fault of ours is tried once more before it becomes a verdict. What the device found and only
/// the source can tell is settled.
RunOutcome CaseRunner::run_with_retry(const RunRequest& request) const {
  RunOutcome outcome = scene_.tools.device.run(request);
  if (outcome.end == RunOutcome::End::device_fault) outcome = scene_.tools.device.run(request);
  const DiagnoseContext context = scene_.context();
  simgpu::settle_by_source(outcome.activity.findings,
                           [&](const std::string& file) -> std::optional<std::string> {
                             const auto source = context.sources.find(student_path(file, context));
                             if (source == context.sources.end()) return std::nullopt;
                             return source->second;
                           });
  return outcome;
}

/// One case of a kernel task is called twice in one process, where the GPU is simulated: the
/// largest public one, since what a function keeps may be for some sizes alone. Not the first, for
/// what that prints is shown, unless it is the only one.
bool CaseRunner::is_called_again(const CaseSpec& spec) const {
  if (scene_.task().kind != TaskKind::kernel || oracle_ == nullptr) return false;
  return is_whole(spec) && spec.name == called_again();
}

const std::string& CaseRunner::called_again() const {
  if (called_again_) return *called_again_;
  std::vector<const CaseSpec*> open;
  for (const CaseSpec& spec : scene_.task().cases) {
    const bool runs_here =
        spec.peak.empty() || scene_.tools.device.gpu().peak_flops.contains(spec.peak);
    if (!spec.hidden && runs_here) open.push_back(&spec);
  }
  if (open.size() > 1) open.erase(open.begin());
  std::erase_if(open, [](const CaseSpec* spec) { return !is_whole(*spec); });
  const auto bytes_of = [this](const CaseSpec* spec) {
    std::size_t bytes = 0;
    for (const Tensor& tensor : problem_of(*spec, spec->name).tensors) bytes += tensor.bytes();
    return bytes;
  };
  const auto largest = std::ranges::max_element(open, {}, bytes_of);
  called_again_ = largest == open.end() ? std::string() : (*largest)->name;
  return *called_again_;
}

RunRequest CaseRunner::request_of(const Problem& problem, bool timed,
                                  const NumberedCase& numbered) const {
  const CaseSpec& spec = numbered.spec;
  const auto with_fresh_inputs = [this, &spec](int index) {
    return problem_of(spec, fmt::format("{}, drawn anew {}", spec.name, index));
  };
  const bool is_of_kernel = scene_.task().kind == TaskKind::kernel;
  return {.library = scene_.built.build.library,
          .entry = scene_.task().entry,
          .libraries = scene_.task().libraries,
          .problem = &problem,
          .timed = timed,
          .sampled = spec.sampled,
          .time_limit = std::chrono::duration<double>(scene_.task().time_limit_s),
          .share_of_work = std::max(kLeastShareOfWork, std::pow(0.5, too_slow_)),
          .secret = seeds_of(spec.name).blocks,
          .gives_stream = scene_.task().stream,
          .holds_to_stream = is_of_kernel && scene_.task().stream && !spec.late_inputs,
          .late_inputs = spec.late_inputs,
          .names_built_code_only = spec.hidden,
          .host_time_limit = std::chrono::duration<double>(scene_.task().host_time_limit_s),
          .fresh = timed || is_called_again(spec) ? std::function(with_fresh_inputs)
                                                  : std::function<Problem(int)>(),
          .checked_again_up_to = numbered.is_checked_again ? kMostCheckedInstructions : 0};
}

}  // namespace rooflab
