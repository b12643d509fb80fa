#include "grader/pipeline/run_case.h"

#include <fmt/format.h>

#include <algorithm>
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
#include "grader/pipeline/roofline.h"
#include "grader/pipeline/seeds.h"
#include "grader/pipeline/too_slow.h"
#include "simgpu/host_code/host_lines.h"
#include "simgpu/source/early_returns.h"

namespace rooflab {
namespace {

/// The checkers run on a timed case of at most so many warp instructions, about two seconds of CPU
/// time. docs/design/targets.md says which tasks that covers.
constexpr std::uint64_t kMostCheckedInstructions = 10'000'000;

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
                                                const CallEvidence& evidence) {
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

/// Whether nothing is left to the class's grading. A student waits for each check of one's own
/// work; what takes as long as the timed calls themselves comes with the hidden cases.
bool has_all_cases(const PartSpec& part) {
  return std::ranges::all_of(part.tasks,
                             [](const TaskSpec& task) { return task.hidden_elsewhere == 0; });
}

/// Whether a call with the parameters `a` is for a smaller problem of the same kind as one with
/// `b`: the same type and function, and no length larger.
bool is_smaller_of_its_kind(const Values& a, const Values& b) {
  return std::ranges::all_of(a, [&](const auto& entry) {
    const auto other = b.find(entry.first);
    if (other == b.end() || other->second.index() != entry.second.index()) return false;
    const auto* length = std::get_if<std::int64_t>(&entry.second);
    if (length != nullptr) return *length <= std::get<std::int64_t>(other->second);
    return std::holds_alternative<double>(entry.second) || entry.second == other->second;
  });
}

/// Whether something is told of the run for which the line of a call is looked up.
bool may_need_host_lines(const RunOutcome& outcome) {
  return !outcome.activity.findings.empty() || !outcome.cuda_error.empty() ||
         outcome.end != RunOutcome::End::returned;
}

}  // namespace

RunOutcome run_past_fault(Device& device, const RunRequest& request) {
  RunOutcome outcome = device.run(request);
  return outcome.end == RunOutcome::End::device_fault ? device.run(request) : outcome;
}

DiagnoseContext TaskScene::context() const {
  DiagnoseContext context = context_of(part, request, task());
  for (const NamedFile& file : built.files) context.sources[file.name] = file.submitted.text;
  return context;
}

CaseRun CaseRunner::run(const NumberedCase& numbered, bool timed) {
  const CaseSpec& spec = numbered.spec;
  const GradeTools& tools = scene_.tools;
  tools.progress(fmt::format("{}: {}{}", scene_.task().id, timed ? "timing " : "", spec.name));
  DiagnoseContext place = scene_.context();
  place.case_name = spec.name;
  place.case_number = numbered.number;
  place.hidden = spec.hidden;
  Problem problem = problem_of(spec, spec.name);
  CaseRun result;
  std::vector<simgpu::Finding> off_stream;
  const auto call = [&](const RunRequest& request) {
    result.outcome = run_with_retry(request);
    // A task that gets no stream has no points apart for it, and a case of late inputs is all about
    // it: they fail.
    if (request.gives_stream && !request.late_inputs) off_stream = take_off_stream(result.outcome);
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
  if (!timed) look_closer(run, result);
  if (!timed) look_backwards(run, numbered, result);
  if (spec.hidden && result.judgement.verdict != Verdict::pass && tools.reveal) {
    result.revealed = reveal_case(run, result.judgement.verdict);
  }
  if (result.judgement.verdict != Verdict::pass) return result;
  result.repeats = judge_repeats(run);
  if (!timed) {
    if (spec.late_inputs && result.repeats) {  // of a second call beside the first one
      result.judgement = *result.repeats;
      return result;
    }
    if (const auto further = judge_further(numbered, place)) {
      result.judgement = *further;
      return result;
    }
  }
  if (oracle_ != nullptr)
    result.artifacts =
        artifacts_of(*oracle_, problem, evidence_of(result.outcome, tools.device.gpu()));
  return result;
}

CaseRunner::Again CaseRunner::run_again(const NumberedCase& numbered,
                                        const std::optional<RecordingRequest>& recording) const {
  Again again{.problem = problem_of(numbered.spec, numbered.spec.name), .outcome = {}};
  RunRequest request = request_of(again.problem, false, numbered);
  request.recording = recording;
  again.outcome = run_with_retry(request);
  return again;
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

/// A case that is right, and whose kernels can see the order of warps and blocks, is run once more
/// in the opposite order: what goes wrong then becomes the verdict, and its outcome the case's.
void CaseRunner::look_backwards(const JudgedRun& run, const NumberedCase& numbered,
                                CaseRun& result) const {
  const auto sees_order = [](const simgpu::KernelRecord& kernel) { return kernel.sees_order; };
  const bool is_due = result.judgement.verdict == Verdict::pass && !run.problem.vast &&
                      std::ranges::any_of(run.outcome.activity.kernels, sees_order);
  if (!is_due) return;
  constexpr std::chrono::duration<double> kLongest{10};
  RunRequest request = request_of(run.problem, false, numbered);
  request.backwards = true;
  request.time_limit = std::min(request.time_limit, kLongest);
  RunOutcome outcome = run_with_retry(request);
  take_off_stream(outcome);
  Judgement judgement =
      judge({run.task, run.spec, run.problem, run.oracle, outcome, run.context, run.gpu});
  if (judgement.verdict == Verdict::pass || judgement.diagnostics.empty()) return;
  // Blocks that wait for those before them take the longer, the more of them have begun: that they
  // do not come to their end says nothing.
  const auto kind = judgement.diagnostics.front().code.kind();
  const bool has_no_end = is_limit(judgement.verdict) || kind == simgpu::FindingKind::too_long ||
                          kind == simgpu::FindingKind::deadlock;
  if (has_no_end) return;
  result.outcome = std::move(outcome);
  result.judgement = std::move(judgement);
  result.judgement.diagnostics = {explain_order(result.judgement.diagnostics.front())};
  result.judgement.verdict = Verdict::race;
  result.judgement.telling = Telling::cause;
}

std::optional<Judgement> CaseRunner::judge_off_stream(const JudgedRun& run,
                                                      std::vector<simgpu::Finding> findings) const {
  if (findings.empty()) return std::nullopt;
  RunOutcome outcome;
  outcome.keeps_records = true;
  outcome.activity.findings = std::move(findings);
  return judge({run.task, run.spec, run.problem, run.oracle, outcome, run.context, run.gpu});
}

/// What the device found and only the source can tell is settled.
RunOutcome CaseRunner::run_with_retry(const RunRequest& request) const {
  RunOutcome outcome = run_past_fault(scene_.tools.device, request);
  const DiagnoseContext context = scene_.context();
  if (scene_.tools.read_library && may_need_host_lines(outcome)) {
    simgpu::host_code::name_host_lines(
        outcome.activity, {request.library}, scene_.tools.read_library,
        [&](const std::string& file) {
          return context.sources.contains(student_path(file, context));
        });
  }
  simgpu::settle_by_source(outcome.activity.findings,
                           [&](const std::string& file) -> std::optional<std::string> {
                             const auto source = context.sources.find(student_path(file, context));
                             if (source == context.sources.end()) return std::nullopt;
                             return source->second;
                           });
  return outcome;
}

/// One case of a kernel task that is right is called several times more in one process, where the
/// GPU is simulated, behind a call of a smaller one: what a function keeps may fit the sizes, the
/// addresses or the inputs of an earlier call alone. It is the largest public case, since what it
/// keeps may be for some sizes alone.
bool CaseRunner::is_called_again(const CaseSpec& spec) const {
  if (scene_.task().kind != TaskKind::kernel || oracle_ == nullptr) return false;
  if (!scene_.tools.device.checks_every_run()) return false;
  const CaseSpec* largest = called_again().largest;
  return largest != nullptr && !spec.hidden && spec.name == largest->name;
}

/// Bytes of a case's tensors, as its work tells: nothing is drawn for it.
double CaseRunner::bytes_of(const CaseSpec& spec) const {
  return oracle_->work(spec.parameters).compulsory_bytes;
}

/// The largest public case, and of those of its kind with at most half as many bytes the largest,
/// so that a call of it is likely to go the same way.
const CalledAgain& CaseRunner::called_again() const {
  std::call_once(called_again_known_, [this] { called_again_ = find_called_again(); });
  return called_again_;
}

CalledAgain CaseRunner::find_called_again() const {
  std::vector<const CaseSpec*> open;
  for (const CaseSpec& spec : scene_.task().cases) {
    const bool runs_here =
        spec.peak.empty() || scene_.tools.device.gpu().peak_flops.contains(spec.peak);
    if (!spec.hidden && runs_here && is_whole(spec)) open.push_back(&spec);
  }
  const auto bytes = [this](const CaseSpec* spec) { return bytes_of(*spec); };
  CalledAgain again;
  const auto largest = std::ranges::max_element(open, {}, bytes);
  if (largest == open.end()) return again;
  again.largest = *largest;
  const auto find_smaller = [&](bool of_its_kind) {
    for (const CaseSpec* spec : open) {
      const bool is_small =
          spec != again.largest && 2 * bytes_of(*spec) <= bytes_of(*again.largest);
      const bool is_right_kind =
          !of_its_kind || is_smaller_of_its_kind(spec->parameters, again.largest->parameters);
      const bool is_more = again.smaller == nullptr || bytes_of(*spec) > bytes_of(*again.smaller);
      if (is_small && is_right_kind && is_more) again.smaller = spec;
    }
  };
  const auto smallest = std::ranges::min_element(open, {}, bytes);
  if (is_small(**smallest)) again.smallest = *smallest;
  find_smaller(true);
  if (again.smaller == nullptr) find_smaller(false);
  return again;
}

/// The calls of a case that is right alone, behind one of a smaller case: two with arrays of their
/// own, and the smaller one again with other inputs in the same arrays. So a buffer of the first
/// call is too small, a graph of its pointers, or of the second call's, is wrong, and a result that
/// is kept by address is stale. The smallest case then comes many times, and nobody knows how
/// often: so a ring of a few buffers, or what is right for some calls only, is wrong.
std::optional<Judgement> CaseRunner::judge_further(const NumberedCase& numbered,
                                                   const DiagnoseContext& place) const {
  const CaseSpec& spec = numbered.spec;
  if (!is_called_again(spec)) return std::nullopt;
  const CaseSpec* smaller = called_again().smaller;
  const CaseSpec& before = smaller == nullptr ? spec : *smaller;
  const CaseSpec* smallest = called_again().smallest;
  const Problem first = problem_of(before, fmt::format("{}, before {}", before.name, spec.name));
  RunRequest request = request_of(first, false, numbered);
  request.further = {{}, {}, {.at = 0}};
  constexpr std::size_t kFirstRepeat = 3;
  if (smallest != nullptr) {
    request.further.push_back({});
    request.further.resize(kFirstRepeat + repeats_of(spec), {.at = kFirstRepeat});
    if (is_small(spec)) request.further.push_back({.at = 2});
  }
  const auto spec_of = [&](int index) -> const CaseSpec& {
    const bool is_repeat = index >= static_cast<int>(kFirstRepeat) &&
                           index < static_cast<int>(kFirstRepeat + repeats_of(spec));
    if (is_repeat) return *smallest;
    return index == 2 ? before : spec;
  };
  request.fresh = [&](int index) {
    const CaseSpec& drawn = spec_of(index);
    return problem_of(drawn, fmt::format("{}, drawn anew {}", drawn.name, index));
  };
  RunOutcome outcome = run_with_retry(request);
  // Work off the stream is not ordered with a later call's, and costs the group that is about it.
  if (!take_off_stream(outcome).empty()) outcome.failed_call = 0;
  const JudgedRun run{
      scene_.task(), spec, first, oracle_, outcome, place, scene_.tools.device.gpu()};
  const auto is_right_alone = [&](int index) {
    const CaseSpec& called = spec_of(index);
    if (&called != smallest) return true;  // the others have been right before
    const Problem problem = request.fresh(index);
    RunOutcome alone = run_with_retry(request_of(problem, false, {called}));
    take_off_stream(alone);
    return judge({scene_.task(), called, problem, oracle_, alone, place, scene_.tools.device.gpu()})
               .verdict == Verdict::pass;
  };
  return judge_further_calls(run, request.fresh, is_right_alone);
}

/// How often the smallest case is called behind the others. The guest cannot tell: it is drawn with
/// the elements that are compared.
std::size_t CaseRunner::repeats_of(const CaseSpec& spec) const {
  constexpr std::uint64_t kFewest = 5, kMost = 20;
  const std::uint64_t draw = seeds_of(spec.name + ", called often").selection;
  return kFewest + draw % (kMost - kFewest + 1);
}

/// Whether a call, its inputs and what they ask for take about a millisecond together.
bool CaseRunner::is_small(const CaseSpec& spec) const {
  constexpr double kMostBytes = 1 << 18, kMostFlops = 1e6;
  const Work work = oracle_->work(spec.parameters);
  return work.compulsory_bytes <= kMostBytes && total_flops(work) <= kMostFlops;
}

RunRequest CaseRunner::request_of(const Problem& problem, bool timed,
                                  const NumberedCase& numbered) const {
  const CaseSpec& spec = numbered.spec;
  const auto with_fresh_inputs = [this, &spec](int index) {
    return problem_of(spec, fmt::format("{}, drawn anew {}", spec.name, index));
  };
  const bool is_of_kernel = scene_.task().kind == TaskKind::kernel;
  const bool is_called_again = timed && has_all_cases(scene_.part);
  return {.library = scene_.built.build.library,
          .entry = scene_.task().entry,
          .libraries = scene_.task().libraries,
          .problem = &problem,
          .timed = timed,
          .sampled = spec.sampled,
          .time_limit = std::chrono::duration<double>(scene_.task().time_limit_s),
          .flops = oracle_ != nullptr ? total_flops(oracle_->work(spec.parameters)) : 0,
          .share_of_work = numbered.share_of_work,
          .secret = seeds_of(spec.name).blocks,
          .gives_stream = scene_.task().stream,
          .holds_to_stream = is_of_kernel && !spec.late_inputs,
          .late_inputs = spec.late_inputs,
          .names_built_code_only = spec.hidden,
          .host_time_limit = std::chrono::duration<double>(scene_.task().host_time_limit_s),
          .fresh = with_fresh_inputs,
          .further = is_called_again ? std::vector<FurtherCall>{{}} : std::vector<FurtherCall>{},
          .checked_again_up_to =
              is_called_again && numbered.is_checked_again ? kMostCheckedInstructions : 0};
}

}  // namespace rooflab
