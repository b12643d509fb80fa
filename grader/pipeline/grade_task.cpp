#include "grader/pipeline/grade_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <ranges>

#include "grader/pipeline/device_work.h"
#include "grader/pipeline/elf_symbols.h"
#include "grader/pipeline/grade_cases.h"
#include "grader/pipeline/grade_tests.h"
#include "grader/pipeline/group_scores.h"
#include "grader/pipeline/limit.h"
#include "grader/pipeline/line_costs.h"
#include "grader/pipeline/roofline.h"
#include "grader/pipeline/run_case.h"
#include "grader/pipeline/runs_ahead.h"
#include "grader/pipeline/score.h"
#include "grader/pipeline/timing.h"
#include "grader/pipeline/too_slow.h"
#include "grader/report/text.h"
#include "simgpu/names/demangle.h"

namespace rooflab {
namespace {

std::vector<NumberedCase> chosen_cases(const TaskSpec& task, const std::optional<int>& number,
                                       const Device& device) {
  const gpu_spec::GpuSpec& gpu = device.gpu();
  std::vector<NumberedCase> cases;
  int next = 1;
  for (const CaseSpec& spec : task.cases) {
    const int own = spec.hidden ? 0 : next++;
    const bool is_chosen = !number || own == *number;
    const bool is_possible = spec.peak.empty() || gpu.peak_flops.contains(spec.peak);
    const bool is_held =
        spec.vast_gb == 0 || (device.backs_lazily() && has_room(spec, gpu.dram_bytes));
    if (is_chosen && is_possible && is_held) cases.push_back({spec, own});
  }
  return cases;
}

double points_of(const Timing& timing) {
  return timing.points + timing.launches.points + timing.dram_bytes.points;
}

bool has_all_points(const Timing& timing) {
  const double most = timing.max_points + timing.launches.max_points + timing.dram_bytes.max_points;
  return most > 0 && points_of(timing) >= most;
}

void forfeit_points(Timing& timing) {
  timing.points = timing.launches.points = timing.dram_bytes.points = 0;
}

/// A replay of one case earns nothing, is out of nothing, and says nothing of other groups.
void forget_points(TaskResult& result) {
  result.score = 0;
  result.max_score = 0;
  std::erase_if(result.groups, [&](const GroupResult& group) {
    return std::ranges::find(result.cases, group.name, &CaseResult::group) == result.cases.end();
  });
  for (GroupResult& group : result.groups) group.score = group.max_score = 0;
}

/// A symbol as a report shows it: a student's may have a million characters.
std::string shown_name(const std::string& symbol) {
  constexpr std::size_t kLongest = 300;
  return shorten(one_line(simgpu::demangled(symbol)), kLongest);
}

constexpr std::size_t kMostUndefined = 20;  // are told of
/// A student waits for all timed cases of a task. Once one was too slow to be simulated whole,
/// each further such one gets half as much work, down to this: looser bounds do.
constexpr double kLeastShareOfWork = 0.25;

/// Grades one task; holds what its stages share.
class TaskGrader {
 public:
  explicit TaskGrader(const TaskScene& scene)
      : scene_(scene), task_(scene.task()), result_(blank_result(task_)), scores_(task_) {}

  TaskResult run() {
    if (const auto peak = missing_peak(task_, gpu()); !peak.empty()) {
      return end(Verdict::not_applicable, explain_not_applicable(gpu().name, peak, context()));
    }
    if (!is_buildable() || !is_allowed()) return result_;
    if (!task_.oracle.empty()) oracle_ = scene_.tools.oracle(task_.oracle);
    if (task_.kind == TaskKind::tests) return grade_tests(scene_, *oracle_);
    const auto cases = scene_.request.times_only
                           ? std::vector<NumberedCase>()
                           : chosen_cases(task_, scene_.request.case_number, scene_.tools.device);
    if (cases.empty() && scene_.request.case_number) {
      const auto& spec = task_.cases.at(static_cast<std::size_t>(*scene_.request.case_number) - 1);
      return end(Verdict::not_applicable, explain_not_applicable(gpu().name, spec.peak, context()));
    }
    CaseRunner runner(scene_, oracle_.get());
    const bool is_over = !grade_cases(scene_, runner, cases, scores_, result_);
    if (!is_over && !scene_.request.case_number) time_all(runner);
    scores_.lose_stream();
    return settled();
  }

 private:
  const gpu_spec::GpuSpec& gpu() const { return scene_.tools.device.gpu(); }
  DiagnoseContext context() const { return scene_.context(); }

  /// For stories of one of the task's files.
  DiagnoseContext context_in(const std::string& file) const {
    DiagnoseContext context = this->context();
    if (!file.empty()) context.file = file;
    return context;
  }

  /// The task ends with this verdict for all of its groups, whatever they came to before.
  TaskResult end(Verdict verdict, Diagnostic story) {
    result_.diagnostics = {std::move(story)};
    fail_all(result_, verdict);
    return result_;
  }
  bool fail(Verdict verdict, Diagnostic story) {
    end(verdict, std::move(story));
    return false;
  }

  bool is_buildable() {
    const BuiltTask& built = scene_.built;
    for (const NamedFile& file : built.files) {
      switch (file.submitted.state) {
        case SubmittedFile::State::present:
          break;
        case SubmittedFile::State::missing:
          return fail(Verdict::not_implemented,
                      explain_not_implemented(file.name, 0, "the file is missing", context()));
        case SubmittedFile::State::refused:
        case SubmittedFile::State::unreadable:
          return fail(Verdict::rejected, refusal_of(file));
      }
    }
    switch (built.build.end) {
      case BuildOutcome::End::built:
        return true;
      case BuildOutcome::End::failed:
        return fail(Verdict::compile_error,
                    explain_compile_error(built.build.messages, context_in(built.build.file)));
      case BuildOutcome::End::fault:
        return fail(Verdict::grader_fault, explain_grader_fault(built.build.messages, context()));
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
    const DynamicSymbols symbols = read_dynamic_symbols(scene_.built.build.library);
    for (const ForbiddenCall& call :
         forbidden_calls_of(symbols, task_, scene_.built.build.traced)) {
      if (call.by == ForbiddenCall::By::student) {
        return fail(Verdict::rejected,
                    explain_forbidden(shown_name(call.symbol), call.line, context_in(call.file)));
      }
      if (call.by == ForbiddenCall::By::unknown) note_for_people(result_, note_of_untraced(call));
    }
    if (symbols.unresolved.empty()) return true;
    std::string messages;
    for (const std::string& symbol : symbols.unresolved | std::views::take(kMostUndefined)) {
      messages += fmt::format("{}/{}: error: {} is declared but not defined\n",
                              scene_.part.directory, task_.file, shown_name(symbol));
    }
    return fail(Verdict::compile_error, explain_compile_error(messages, context()));
  }

  /// The timed cases of groups that pass, up to one that ends the task.
  void time_all(CaseRunner& runner) {
    std::vector<const SpeedSpec*> speeds;
    for (const SpeedSpec& speed : task_.speeds) {
      const bool is_possible = gpu().peak_flops.contains(speed.peak);
      if (scores_.pass(speed.groups) && is_possible) speeds.push_back(&speed);
    }
    constexpr std::size_t kAhead = 1;  // what is too slow should not be tried more often
    RunsAhead runs(speeds.size(), kAhead, scene_.slots, [&](std::size_t i) {
      return [&runner, timed = timed_case(*speeds[i])] { return runner.run(timed, true); };
    });
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      if (!scores_.pass(speeds[i]->groups)) continue;  // a timed case before it has failed
      if (!time(*speeds[i], runs.take(i), runner)) break;
    }
  }

  /// A timed case is also a case of the groups that it stands on: it runs once as it is timed, with
  /// the checkers off, and where it has points and that is cheap once more in the same process with
  /// them on and with other inputs.
  NumberedCase timed_case(const SpeedSpec& speed) const {
    return {{.name = speed.name,
             .parameters = speed.parameters,
             .expect = {},
             .sampled = speed.sampled,
             .shows_memory = speed.shows_memory,
             .group = speed.groups.front()},
            0,
            maximum_points(speed) > 0 && !scene_.request.times_only,
            std::max(kLeastShareOfWork, std::pow(0.5, too_slow_))};
  }

  /// Takes up what a timed run came to. Gives it back; nothing when it is not right.
  std::optional<CaseRun> passed(const SpeedSpec& speed, CaseRun run) {
    const NumberedCase timed = timed_case(speed);
    if (is_cut_short(run.outcome)) ++too_slow_;
    keep_what_it_left(timed, run, result_);
    if (run.off_stream) scores_.note_off_stream(*run.off_stream);
    Judgement judgement = run.judgement;
    if (judgement.verdict == Verdict::pass) {
      tell_once(std::move(judgement.diagnostics));  // of what it leaks
      if (!run.repeats) return run;
      judgement = *run.repeats;
    }
    result_.cases.push_back({speed.name, judgement.verdict, false, timed.spec.group});
    if (judgement.verdict == Verdict::suspect) {
      suspect(speed, std::move(judgement.diagnostics.front()));
    } else {
      tell_timed_alone(speed, judgement);
      scores_.lose(speed.groups, std::move(judgement));
    }
    return std::nullopt;
  }

  /// A timed case runs once the cases of its groups have passed, so the size is what matters.
  static void tell_timed_alone(const SpeedSpec& speed, Judgement& judgement) {
    if (judgement.diagnostics.empty()) return;
    Diagnostic& story = judgement.diagnostics.front();
    story.message = fmt::format("at the timed size alone, {}: {}", speed.name, story.message);
    story.notes.push_back(fmt::format("all other cases of {} pass",
                                      speed.groups.size() == 1 ? "this group" : "these groups"));
    if (story.code != "RL0401") return;
    story.help =
        "look for what changes with the size: more elements than the grid has threads, an index or "
        "a count that overflows, a buffer of a fixed size";
  }

  /// Scores the time of one case. False when it ends the task.
  bool time(const SpeedSpec& speed, CaseRun first, CaseRunner& runner) {
    std::optional<CaseRun> run = passed(speed, std::move(first));
    if (!run) return goes_on();
    const Work work = oracle_->work(speed.parameters);
    const Roofline roofline = roofline_of(work, gpu(), scene_.tools.device.roofline_gpu());
    Timing timing = timing_of(run->outcome, speed, work, roofline);
    if (is_too_noisy(timing, speed)) {
      scene_.tools.progress(fmt::format("{}: {} is noisy, timing it again", task_.id, speed.name));
      run = passed(speed, runner.run(timed_case(speed), true));
      if (!run) return goes_on();
      timing = timing_of(run->outcome, speed, work, roofline);
    }
    const simgpu::Activity& activity = run->outcome.activity;
    timing.limit = limit_of(activity, work, roofline.time_us, timing.time_us, gpu().sm_count,
                            !is_forbidden("cudaGraphLaunch", task_.forbidden));
    timing.advice = advice_of(timing.limit, timing);
    if (result_.timings.empty()) timing.costs = line_costs(run->outcome, context_timed(speed));
    if (speed.shows_memory) timing.peak_memory = run->peak_memory;
    if (is_cut_short(run->outcome)) return add_bound(speed, std::move(timing), *run);
    const bool is_uncompared = run->judgement.is_uncompared;
    take_points_of_silence(timing, run->outcome, run->judgement);
    if (is_uncompared) leave_uncompared_share(timing);
    add_timing(speed, timing);
    if (const std::string note = note_of_disturbed(timing); !note.empty()) {
      note_for_people(result_, speed.name + ": " + note);
    }
    const bool measured = scene_.tools.device.time_kind() == "measured";
    if (const auto below = impossible_time(timing, roofline, work, activity, gpu(), measured)) {
      if (below->kind != Doubt::Kind::for_people) {
        return suspect(speed, explain_suspect(timing, context_timed(speed)));
      }
      note_for_people(result_, speed.name + ": " + below->reason);
    }
    forfeit_for_detour(speed, *run);
    if (is_too_noisy(timing, speed)) {
      noise_ = explain_noise(timing, points_in_doubt(timing, speed), context_timed(speed));
      return false;
    }
    std::vector<Diagnostic> remarks = judge_speed(speed, run->outcome, result_.timings.back());
    if (is_uncompared) tell_too_slow(speed, *run);
    tell_once(std::move(remarks));
    add_kernel_evidence(speed, timing, activity);
    return true;
  }

  /// Of the case that was timed last, whatever the host did costs no time.
  void forfeit_for_detour(const SpeedSpec& speed, const CaseRun& run) {
    const std::string copies =
        copies_to_host(run.bytes, oracle_->work(speed.parameters), run.outcome.activity, gpu());
    if (copies.empty()) return;
    forfeit_points(result_.timings.back());
    tell_once({explain_detour(copies, context_timed(speed))});
  }

  /// A right call that would take too long to simulate: what is known of its time counts.
  bool add_bound(const SpeedSpec& speed, Timing timing, const CaseRun& run) {
    bound(timing);
    take_points_of_silence(timing, run.outcome, run.judgement);
    if (run.judgement.is_uncompared) leave_uncompared_share(timing);
    add_timing(speed, std::move(timing));
    Timing& kept = result_.timings.back();
    forfeit_for_detour(speed, run);
    std::vector<Diagnostic> remarks = judge_speed(speed, run.outcome, kept);
    tell_too_slow(speed, run);
    tell_once(std::move(remarks));
    add_kernel_evidence(speed, kept, run.outcome.activity);
    return true;
  }

  /// Of the case that was timed last. What nobody compared, a person should know of.
  void tell_too_slow(const SpeedSpec& speed, const CaseRun& run) {
    tell_once({explain_too_slow(result_.timings.back(), run.outcome, run.judgement,
                                context_timed(speed))});
    if (run.judgement.is_uncompared) {
      note_for_people(result_, speed.name +
                                   ": too slow to simulate whole, and no value of it "
                                   "could be compared");
    }
  }

  void add_timing(const SpeedSpec& speed, Timing timing) {
    result_.timings.push_back(std::move(timing));
    timed_.push_back(&speed);
  }

  /// What the oracle says of how the call was made; takes points from `timing` that are not for it.
  std::vector<Diagnostic> judge_speed(const SpeedSpec& speed, const RunOutcome& outcome,
                                      Timing& timing) const {
    const CallEvidence evidence = evidence_of(outcome, gpu());
    std::vector<Diagnostic> stories;
    for (const SpeedRemark& remark : oracle_->judge_speed(speed.parameters, evidence)) {
      if (remark.forfeits_points) forfeit_points(timing);
      if (has_all_points(timing)) continue;
      stories.push_back(explain_remark(remark, timing, context_timed(speed)));
    }
    return stories;
  }

  /// A wrong answer costs the groups of its timed case; what is no student's answer ends the task.
  bool goes_on() const {
    const Verdict verdict = result_.cases.back().verdict;
    return verdict != Verdict::suspect && verdict != Verdict::grader_fault &&
           verdict != Verdict::rejected;
  }

  /// The answers are right, so they keep their points; nothing of any timed case counts.
  bool suspect(const SpeedSpec& speed, Diagnostic story) {
    scores_.doubt(speed.groups, std::move(story));
    is_suspect_ = true;
    return false;
  }

  DiagnoseContext context_timed(const SpeedSpec& speed) const {
    DiagnoseContext context = this->context();
    context.case_name = speed.name;
    return context;
  }

  /// The counters of the first timed call, and what makes any of them slow, each cause told once.
  void add_kernel_evidence(const SpeedSpec& speed, const Timing& timing,
                           const simgpu::Activity& activity) {
    tell_once(explain_counts(timing, activity, context_timed(speed)));
    const simgpu::KernelRecord* kernel = slowest_kernel(activity);
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

  /// The points of a timed case count while nothing is suspect and its groups pass to the end.
  double speed_score() {
    double sum = 0;
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      Timing& timing = result_.timings[i];
      if (is_suspect_ || !scores_.pass(timed_[i]->groups)) forfeit_points(timing);
      sum += points_of(timing);
    }
    return sum;
  }

  /// The result with the groups' verdicts and points, and what fails told before what is slow.
  TaskResult settled() {
    if (noise_) return end(Verdict::grader_fault, *std::move(noise_));
    const double speed = speed_score();
    std::vector<Diagnostic> stories = scores_.stories();
    std::ranges::move(result_.diagnostics, std::back_inserter(stories));
    result_.diagnostics = std::move(stories);
    const auto passed = std::ranges::count(result_.cases, Verdict::pass, &CaseResult::verdict);
    const auto ran = static_cast<std::ptrdiff_t>(result_.cases.size());
    result_.summary = passed == ran ? fmt::format("{} {}", ran, ran == 1 ? "case" : "cases")
                                    : fmt::format("{} of {} cases are right", passed, ran);
    result_.verdict = scores_.verdict();
    if (result_.verdict == Verdict::grader_fault || result_.verdict == Verdict::rejected) {
      fail_all(result_, result_.verdict);
      return result_;
    }
    result_.groups = scores_.results();
    result_.score = rounded_points(scores_.score() + speed);
    if (scene_.request.case_number) forget_points(result_);
    return result_;
  }

  const TaskScene& scene_;
  const TaskSpec& task_;
  TaskResult result_;
  GroupScores scores_;
  std::unique_ptr<Oracle> oracle_;
  std::vector<const SpeedSpec*> timed_;  ///< of result_.timings
  std::optional<Diagnostic> noise_;      ///< of a time that says nothing
  bool is_suspect_ = false;
  int too_slow_ = 0;  ///< timed calls so far that were cut short
};

/// What the compiler warned of often is why the task fails: a missing return, a variable without a
/// value.
void add_warnings(const BuildOutcome& build, TaskResult& result) {
  const bool is_theirs = is_worse(result.verdict, Verdict::pass) &&
                         result.verdict != Verdict::not_implemented &&
                         result.verdict != Verdict::grader_fault;
  if (!is_theirs || result.diagnostics.empty()) return;
  for (std::string& note : warning_notes(build.warnings)) {
    result.diagnostics.front().notes.push_back(std::move(note));
  }
}

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
  result.groups = blank_groups(task);
  result.hidden_cases = task.hidden_elsewhere;
  return result;
}

void fail_all(TaskResult& result, Verdict verdict) {
  const bool is_out_of_nothing =
      verdict == Verdict::grader_fault || verdict == Verdict::not_applicable;
  result.verdict = verdict;
  result.score = 0;
  if (is_out_of_nothing) result.max_score = 0;  // no student's fault
  for (GroupResult& group : result.groups) {
    group.verdict = verdict;
    group.score = 0;
    if (is_out_of_nothing) group.max_score = 0;
  }
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
                      const BuiltTask& built, RunSlots& slots) {
  try {
    const TaskScene scene{part, request, tools, built, slots};
    TaskResult result = TaskGrader(scene).run();
    add_warnings(built.build, result);
    return result;
  } catch (const std::exception& error) {
    // Whatever goes wrong on our side of the fence must not cost the student this task, nor the
    // others.
    TaskResult result = blank_result(*built.task);
    fail_all(result, Verdict::grader_fault);
    result.diagnostics = {
        explain_grader_fault(error.what(), context_of(part, request, *built.task))};
    return result;
  }
}

}  // namespace rooflab
