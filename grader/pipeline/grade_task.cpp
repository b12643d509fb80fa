#include "grader/pipeline/grade_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "grader/pipeline/check.h"
#include "grader/pipeline/counts.h"
#include "grader/pipeline/device_work.h"
#include "grader/pipeline/elf_symbols.h"
#include "grader/pipeline/judge.h"
#include "grader/pipeline/judge_repeats.h"
#include "grader/pipeline/limit.h"
#include "grader/pipeline/roofline.h"
#include "grader/pipeline/seeds.h"
#include "grader/pipeline/timing.h"
#include "grader/pipeline/too_slow.h"
#include "simgpu/names/demangle.h"

namespace rooflab {
namespace {

/// The checkers run on a timed case of at most so many warp instructions, about two seconds of CPU
/// time. docs/design/targets.md says which tasks that covers.
constexpr std::uint64_t kMostCheckedInstructions = 10'000'000;

/// One case with its number among the public ones, 0 for hidden and timed ones.
struct NumberedCase {
  CaseSpec spec;
  int number = 0;
};

/// What the task forbids. Looking functions up at run time goes around every prohibition, so it is
/// one itself, except where the toolkit's profiler has to look for CUPTI.
std::vector<std::string> forbidden_symbols(const TaskSpec& task) {
  std::vector<std::string> forbidden = task.forbidden;
  if (std::ranges::find(task.libraries, "cupti") == task.libraries.end()) {
    forbidden.emplace_back("^dl(m?open|v?sym)$");
  }
  return forbidden;
}

std::vector<NumberedCase> chosen_cases(const TaskSpec& task, const std::optional<int>& number,
                                       const gpu_spec::GpuSpec& gpu) {
  std::vector<NumberedCase> cases;
  int next = 1;
  for (const CaseSpec& spec : task.cases) {
    const int own = spec.hidden ? 0 : next++;
    const bool is_chosen = !number || own == *number;
    const bool is_possible = spec.peak.empty() || gpu.peak_flops.contains(spec.peak);
    if (is_chosen && is_possible) cases.push_back({spec, own});
  }
  return cases;
}

/// Whether the checkers can run on what was just timed without keeping a student waiting. A device
/// that keeps no records has no checkers.
bool is_cheap_to_check(const simgpu::Activity& activity) {
  std::uint64_t instructions = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    instructions += kernel.counters.warp_instructions;
  }
  return instructions > 0 && instructions <= kMostCheckedInstructions;
}

/// Artifacts become files in a folder of reports.
void require_plain_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  if (!name.empty() && name.front() != '.' && std::ranges::all_of(name, is_plain)) return;
  throw OracleFault(fmt::format(
      "the oracle names an artifact \"{}\"; use lower-case letters, digits, ., _ and -", name));
}

/// Grades one task; holds what its stages share.
class TaskGrader {
 public:
  TaskGrader(const PartSpec& part, const GradeRequest& request, const GradeTools& tools,
             const BuiltTask& built)
      : part_(part),
        request_(request),
        tools_(tools),
        built_(built),
        task_(*built.task),
        result_(blank_result(task_)) {}

  TaskResult run() {
    if (const auto peak = missing_peak(task_, tools_.device.gpu()); !peak.empty()) {
      result_.max_score = 0;  // nobody's fault, so out of nothing
      fail(Verdict::not_applicable,
           {explain_not_applicable(tools_.device.gpu().name, peak, context())});
      return result_;
    }
    if (!is_buildable() || !is_allowed()) return result_;
    if (!task_.oracle.empty()) oracle_ = tools_.oracle(task_.oracle);
    if (!all_cases_pass()) return result_;
    if (request_.case_number) {  // a replay of one case earns nothing and is out of nothing
      result_.max_score = 0;
      return result_;
    }
    result_.score = task_.points;
    for (const SpeedSpec& speed : task_.speeds) {
      if (tools_.device.gpu().peak_flops.contains(speed.peak) && !time(speed)) break;
    }
    return result_;
  }

 private:
  DiagnoseContext context() const {
    DiagnoseContext context = context_of(part_, request_, task_);
    for (const NamedFile& file : built_.files) context.sources[file.name] = file.submitted.text;
    return context;
  }

  /// For stories of one of the task's files.
  DiagnoseContext context_in(const std::string& file) const {
    DiagnoseContext context = this->context();
    if (!file.empty()) context.file = file;
    return context;
  }

  bool fail(Verdict verdict, std::vector<Diagnostic> diagnostics) {
    result_.verdict = verdict;
    std::ranges::move(diagnostics, std::back_inserter(result_.diagnostics));
    if (verdict == Verdict::grader_fault) result_.max_score = 0;  // no student's zero
    return false;
  }

  bool is_buildable() {
    for (const NamedFile& file : built_.files) {
      switch (file.submitted.state) {
        case SubmittedFile::State::present:
          break;
        case SubmittedFile::State::missing:
          return fail(Verdict::not_implemented,
                      {explain_not_implemented(file.name, 0, "the file is missing", context())});
        case SubmittedFile::State::refused:
        case SubmittedFile::State::unreadable:
          return fail(Verdict::rejected, {refusal_of(file)});
      }
    }
    switch (built_.build.end) {
      case BuildOutcome::End::built:
        return true;
      case BuildOutcome::End::failed:
        return fail(Verdict::compile_error,
                    {explain_compile_error(built_.build.messages, context_in(built_.build.file))});
      case BuildOutcome::End::fault:
        return fail(Verdict::grader_fault,
                    {explain_grader_fault(built_.build.messages, context())});
    }
    return false;
  }

  static Diagnostic refusal_of(const NamedFile& file) {
    Diagnostic story;
    story.code = "RL0611";
    story.message = fmt::format("{} cannot be graded: {}", file.name, file.submitted.reason);
    story.file = file.name;
    story.help = "hand in a plain readable text file in UTF-8, of at most 1 MiB";
    return story;
  }

  /// The built file uses nothing that is forbidden and defines what the task asks for.
  bool is_allowed() {
    const DynamicSymbols symbols = read_dynamic_symbols(built_.build.library);
    const std::string forbidden = first_forbidden(symbols, forbidden_symbols(task_));
    if (!forbidden.empty()) {
      return fail(Verdict::rejected, {explain_forbidden(simgpu::demangled(forbidden), context())});
    }
    if (symbols.unresolved.empty()) return true;
    std::string messages;
    for (const std::string& symbol : symbols.unresolved) {
      messages += fmt::format("{}/{}: error: {} is declared but not defined\n", part_.directory,
                              task_.file, simgpu::demangled(symbol));
    }
    return fail(Verdict::compile_error, {explain_compile_error(messages, context())});
  }

  bool all_cases_pass() {
    const auto cases = chosen_cases(task_, request_.case_number, tools_.device.gpu());
    if (cases.empty() && request_.case_number) {
      result_.max_score = 0;
      const auto& peak = task_.cases.at(static_cast<std::size_t>(*request_.case_number) - 1).peak;
      return fail(Verdict::not_applicable,
                  {explain_not_applicable(tools_.device.gpu().name, peak, context())});
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const NumberedCase& numbered = cases[i];
      tools_.progress(fmt::format("{}: {}", task_.id, numbered.spec.name));
      const Judgement judgement = judge_case(numbered, false);
      result_.cases.push_back(
          {numbered.spec.name, judgement.verdict, numbered.spec.hidden, peak_memory_});
      if (judgement.verdict != Verdict::pass) {
        return fail(judgement.verdict, most_telling(judgement, std::span(cases).subspan(i + 1)));
      }
      // A case that leaks memory passes with a word about it, which the next ones would repeat.
      if (result_.diagnostics.empty()) result_.diagnostics = judgement.diagnostics;
    }
    result_.summary = fmt::format("{} {}", cases.size(), cases.size() == 1 ? "case" : "cases");
    return true;
  }

  /// The stories of the first case that fails, or of a later one that tells more.
  std::vector<Diagnostic> most_telling(const Judgement& first,
                                       std::span<const NumberedCase> later) {
    if (first.verdict != Verdict::wrong_answer) return first.diagnostics;
    constexpr std::size_t kMostCases = 6;  // each costs a run, of a submission that fails anyway
    Judgement best = first;
    std::size_t tried = 0;
    for (const NumberedCase& numbered : later) {
      if (best.telling == Telling::cause || tried == kMostCases) break;
      if (numbered.spec.hidden || numbered.spec.sampled) continue;
      ++tried;
      Judgement judgement = judge_case(numbered, false);
      const bool tells_more = judgement.telling > best.telling;
      if (judgement.verdict == Verdict::wrong_answer && tells_more) best = std::move(judgement);
    }
    return best.diagnostics;
  }

  Judgement judge_case(const NumberedCase& numbered, bool timed) {
    DiagnoseContext place = context();
    place.case_name = numbered.spec.name;
    place.case_number = numbered.number;
    place.hidden = numbered.spec.hidden;
    const Problem problem = problem_of(numbered.spec, numbered.spec.name);
    outcome_ = run_with_retry(problem, timed, numbered.spec);
    peak_memory_.reset();
    if (numbered.spec.shows_memory) peak_memory_ = peak_memory(outcome_, problem);
    if (tools_.observe) tools_.observe(task_.id + ": " + numbered.spec.name, outcome_.activity);
    // A print could tell a hidden case's sizes.
    if (result_.printed.empty() && !numbered.spec.hidden) result_.printed = outcome_.printed;
    const JudgedRun run{task_, numbered.spec, problem, oracle_.get(), outcome_, place};
    Judgement judgement = judge(run);
    if (!timed) look_closer(run, judgement);
    repeats_ = judgement.verdict == Verdict::pass ? judge_repeats(run) : std::nullopt;
    if (judgement.verdict == Verdict::pass && oracle_ != nullptr) add_artifacts(problem);
    return judgement;
  }

  /// @param draw names the draw of the inputs; the same for the same grade
  Problem problem_of(const CaseSpec& spec, const std::string& draw) const {
    if (oracle_ == nullptr) return {spec.parameters, {}};
    return oracle_->make(spec.parameters, case_seed(request_.seed, part_.number, task_.id, draw));
  }

  /// Later cases' files take the place of earlier ones of the same name.
  void add_artifacts(const Problem& problem) {
    const CallEvidence evidence{outcome_.results, outcome_.activity, outcome_.keeps_records};
    for (auto& [name, text] : oracle_->artifacts(problem, evidence)) {
      require_plain_name(name);
      result_.artifacts[name] = text;
    }
  }

  /// A case that fails by a wrong answer or an error is made once more under the device's checkers,
  /// where it has any that do not watch every run: what they find becomes the verdict and the
  /// story, as on a simulated GPU.
  void look_closer(const JudgedRun& run, Judgement& judgement) {
    const bool may_have_a_cause = judgement.verdict == Verdict::wrong_answer ||
                                  judgement.verdict == Verdict::runtime_error ||
                                  judgement.verdict == Verdict::time_limit;
    if (!may_have_a_cause || looked_closer_ || tools_.device.checks_every_run()) return;
    looked_closer_ = true;  // it takes up to a minute: once for each task
    tools_.progress(fmt::format("{}: checking {}", task_.id, run.spec.name));
    const CheckedCall checked = tools_.device.check(request_of(run.problem, false, run.spec));
    if (!checked.findings.empty()) {
      outcome_.activity.findings = checked.findings;
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

  /// A fault of ours is tried once more before it becomes a verdict.
  RunOutcome run_with_retry(const Problem& problem, bool timed, const CaseSpec& spec) {
    const RunRequest request = request_of(problem, timed, spec);
    RunOutcome outcome = tools_.device.run(request);
    if (outcome.end == RunOutcome::End::device_fault) outcome = tools_.device.run(request);
    return outcome;
  }

  RunRequest request_of(const Problem& problem, bool timed, const CaseSpec& spec) const {
    const auto with_fresh_inputs = [this, &spec](int index) {
      return problem_of(spec, fmt::format("{}, drawn anew {}", spec.name, index));
    };
    return {.library = built_.build.library,
            .entry = task_.entry,
            .libraries = task_.libraries,
            .problem = &problem,
            .timed = timed,
            .sampled = spec.sampled,
            .time_limit = std::chrono::duration<double>(task_.time_limit_s),
            .host_time_limit = std::chrono::duration<double>(task_.host_time_limit_s),
            .fresh = with_fresh_inputs};
  }

  /// Whether a timed case is right: once as it is timed, with the checkers off, and where it has
  /// points and that is cheap once more with them on, since a race may need the full size. Leaves
  /// the timed outcome.
  bool timed_case_passes(const SpeedSpec& speed) {
    const NumberedCase timed{{.name = speed.name,
                              .parameters = speed.parameters,
                              .expect = {},
                              .sampled = speed.sampled,
                              .shows_memory = speed.shows_memory},
                             0};
    tools_.progress(fmt::format("{}: timing {}", task_.id, speed.name));
    Judgement judgement = judge_case(timed, true);
    const bool checkable = maximum_points(speed) > 0 && !outcome_.sampled &&
                           !is_cut_short(outcome_) && is_cheap_to_check(outcome_.activity);
    if (judgement.verdict == Verdict::pass && checkable) {
      tools_.progress(fmt::format("{}: checking {} for races", task_.id, speed.name));
      RunOutcome as_timed = std::move(outcome_);
      judgement = judge_case(timed, false);
      outcome_ = std::move(as_timed);
    }
    if (repeats_ && repeats_->verdict == Verdict::suspect) {
      return suspect(std::move(repeats_->diagnostics.front()));
    }
    if (repeats_) judgement = *std::move(repeats_);
    if (judgement.verdict == Verdict::pass) return true;
    result_.score = 0;
    result_.cases.push_back({speed.name, judgement.verdict, false});
    return fail(judgement.verdict, judgement.diagnostics);
  }

  /// Times one case and adds its points. False when it ends the task.
  bool time(const SpeedSpec& speed) {
    if (!timed_case_passes(speed)) return false;
    const Work work = oracle_->work(speed.parameters);
    const Roofline roofline = roofline_of(work, tools_.device.gpu(), tools_.device.roofline_gpu());
    Timing timing = timing_of(outcome_, speed, work, roofline);
    if (is_too_noisy(timing, speed)) {
      tools_.progress(fmt::format("{}: {} is noisy, timing it again", task_.id, speed.name));
      if (!timed_case_passes(speed)) return false;
      timing = timing_of(outcome_, speed, work, roofline);
    }
    timing.limit = limit_of(outcome_.activity, work, timing.time_us, tools_.device.gpu().sm_count);
    timing.advice = advice_of(timing.limit, timing.time_us);
    if (speed.shows_memory) timing.peak_memory = peak_memory_;
    if (is_cut_short(outcome_)) return add_bound(speed, std::move(timing));
    result_.timings.push_back(timing);
    const bool measured = tools_.device.time_kind() == "measured";
    if (is_below_floor(timing, measured)) {
      return suspect(explain_suspect(timing, context_timed(speed)));
    }
    if (const auto copies = copies_to_host(work, outcome_.activity); !copies.empty()) {
      return suspect(explain_work_elsewhere(copies, context_timed(speed)));
    }
    if (is_too_noisy(timing, speed)) {
      result_.score = 0;
      return fail(Verdict::grader_fault,
                  {explain_noise(timing, points_in_doubt(timing, speed), context_timed(speed))});
    }
    result_.score += timing.points + timing.launches.points + timing.dram_bytes.points;
    add_kernel_evidence(speed, timing);
    return true;
  }

  /// A right call that would take too long to simulate: what is known of its time counts.
  bool add_bound(const SpeedSpec& speed, Timing timing) {
    bound(timing);
    tell_once({explain_too_slow(timing, outcome_, context_timed(speed))});
    result_.score += timing.points + timing.launches.points;
    result_.timings.push_back(timing);
    add_kernel_evidence(speed, timing);
    return true;
  }

  /// The answers are right, so they keep their points; nothing else of the timed cases counts.
  bool suspect(Diagnostic story) {
    result_.score = task_.points;
    for (Timing& timing : result_.timings) {
      timing.points = timing.launches.points = timing.dram_bytes.points = 0;
    }
    return fail(Verdict::suspect, {std::move(story)});
  }

  DiagnoseContext context_timed(const SpeedSpec& speed) const {
    DiagnoseContext context = this->context();
    context.case_name = speed.name;
    return context;
  }

  /// The counters of the first timed call, and what makes any of them slow, each cause told once.
  void add_kernel_evidence(const SpeedSpec& speed, const Timing& timing) {
    tell_once(explain_counts(timing, outcome_.activity, context_timed(speed)));
    const simgpu::KernelRecord* kernel = slowest_kernel(outcome_.activity);
    if (kernel == nullptr) return;
    if (result_.timings.size() == 1) result_.counters = simgpu::nsight_counters(*kernel);
    tell_once(explain_slowness(timing, *kernel, context_timed(speed)));
  }

  void tell_once(std::vector<Diagnostic> stories) {
    for (Diagnostic& story : stories) {
      const bool told = std::ranges::find(result_.diagnostics, story.code, &Diagnostic::code) !=
                        result_.diagnostics.end();
      if (!told) result_.diagnostics.push_back(std::move(story));
    }
  }

  const PartSpec& part_;
  const GradeRequest& request_;
  const GradeTools& tools_;
  const BuiltTask& built_;
  const TaskSpec& task_;
  TaskResult result_;
  std::unique_ptr<Oracle> oracle_;
  RunOutcome outcome_;
  std::optional<Judgement> repeats_;  ///< of the last timed run's other calls: not right
  bool looked_closer_ = false;
  std::optional<std::uint64_t> peak_memory_;  ///< of the last call, where it is to be shown
};

}  // namespace

std::string missing_peak(const TaskSpec& task, const gpu_spec::GpuSpec& gpu) {
  for (const SpeedSpec& speed : task.speeds) {
    if (maximum_points(speed) > 0 && !gpu.peak_flops.contains(speed.peak)) return speed.peak;
  }
  return {};
}

TaskResult blank_result(const TaskSpec& task) {
  TaskResult result;
  result.id = task.id;
  result.title = task.title;
  result.bonus = task.bonus;
  result.max_score = maximum_points(task);
  return result;
}

DiagnoseContext context_of(const PartSpec& part, const GradeRequest& request,
                           const TaskSpec& task) {
  DiagnoseContext context;
  context.part = part.number;
  context.task = task.id;
  context.seed = request.seed;
  context.submission = request.submission / part.directory;
  context.file = task.file;
  return context;
}

TaskResult grade_task(const PartSpec& part, const GradeRequest& request, const GradeTools& tools,
                      const BuiltTask& built) {
  try {
    return TaskGrader(part, request, tools, built).run();
  } catch (const std::exception& error) {
    // Whatever goes wrong on our side of the fence must not cost the student this task, nor the
    // others.
    TaskResult result = blank_result(*built.task);
    result.verdict = Verdict::grader_fault;
    result.max_score = 0;
    result.diagnostics = {
        explain_grader_fault(error.what(), context_of(part, request, *built.task))};
    return result;
  }
}

}  // namespace rooflab
