#include "grader/pipeline/grade_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "grader/pipeline/runs_ahead.h"
#include "grader/reactions/cause_story.h"
#include "grader/spec/groups.h"

namespace rooflab {
namespace {

/// Once so many groups have ended at a limit, the others of the task are not run. Counting them,
/// and not seconds, gives a submission the same points on a busy machine.
constexpr int kMostLimits = 3;

/// What the first case printed, or the first that fails. A hidden case's prints could tell its
/// sizes.
void keep_printed(const NumberedCase& numbered, const CaseRun& run, TaskResult& result) {
  if (numbered.spec.hidden || run.outcome.printed.empty()) return;
  // What a hidden case has left on the machine, a later one could tell.
  if (std::ranges::any_of(result.cases, &CaseResult::hidden)) return;
  const auto failed_openly = [&](const CaseResult& earlier) {
    return earlier.verdict != Verdict::pass && !earlier.hidden;
  };
  const bool fails = run.judgement.verdict != Verdict::pass;
  const bool is_first_failure =
      fails && std::ranges::count_if(result.cases, failed_openly) <= 1;  // it is among them
  if (result.printed.empty() || is_first_failure) result.printed = run.outcome.printed;
}

/// Whether a story tells of values that are off by a factor, and a weight of the inputs would say
/// the same of less.
bool is_known_by_its_factor(const Diagnostic& story, const FoundCause& cause) {
  return cause.code == "RL0553" && (story.code == "RL0404" || story.code == "RL0409");
}

/// Whether accesses are what is wrong: out of bounds, never written, or a race; or a copy that goes
/// where nothing is.
bool is_about_accesses(const Judgement& judgement) {
  using simgpu::FindingKind;
  const auto kind = judgement.diagnostics.front().code.kind();
  const bool is_of_verdict =
      judgement.verdict == Verdict::runtime_error || judgement.verdict == Verdict::race;
  return is_of_verdict &&
         (kind == FindingKind::out_of_bounds || kind == FindingKind::misaligned ||
          kind == FindingKind::uninitialized_read || kind == FindingKind::shared_race ||
          kind == FindingKind::global_race || kind == FindingKind::invalid_api_use);
}

/// Whether values are wrong of which only the looks are told.
bool lacks_a_cause(const Judgement& judgement) {
  return judgement.verdict == Verdict::wrong_answer && judgement.telling != Telling::cause &&
         !names_cause(judgement.diagnostics.front());
}

/// Grades the cases of one task; holds what its groups share.
class CaseGrader {
 public:
  CaseGrader(const TaskScene& scene, CaseRunner& runner, GroupScores& scores, TaskResult& result)
      : scene_(scene), runner_(runner), scores_(scores), result_(result) {}

  bool run(const std::vector<NumberedCase>& cases) {
    const std::vector<NumberedCase> in_order = by_group(cases);
    // Enough for two cores where one case takes as long as the next two.
    constexpr std::size_t kAhead = 3;
    RunsAhead runs(in_order.size(), kAhead, scene_.slots, [&](std::size_t i) {
      return [this, &numbered = in_order[i]] { return runner_.run(numbered, false); };
    });
    runs_ = &runs;
    for (std::size_t first = 0; first < in_order.size();) {
      std::size_t end = first;
      while (end < in_order.size() && in_order[end].spec.group == in_order[first].spec.group) ++end;
      if (!run_group(std::span(in_order).subspan(first, end - first), first)) return false;
      first = end;
    }
    return true;
  }

 private:
  /// The first failure of a group, or a later one that tells more, whose case may be shown.
  struct Told {
    Judgement judgement;
    bool hidden = false;
    const NumberedCase* shown_by = nullptr;
  };

  /// The cases group by group, in the order of the task's groups.
  std::vector<NumberedCase> by_group(const std::vector<NumberedCase>& cases) const {
    std::vector<NumberedCase> in_order;
    for (const std::string& group : scores_.names()) {
      for (const NumberedCase& numbered : cases) {
        if (numbered.spec.group == group) in_order.push_back(numbered);
      }
    }
    if (in_order.size() != cases.size()) {
      throw std::logic_error("a case belongs to no group of its task");
    }
    return in_order;
  }

  /// @param first the place of its first case among all that run
  bool run_group(std::span<const NumberedCase> cases, std::size_t first) {
    const std::string& group = cases.front().spec.group;
    if (limits_ == kMostLimits) {
      scores_.lose({group}, not_run());
      return true;
    }
    std::optional<Told> told;
    std::vector<const CaseSpec*> wrong;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const NumberedCase& numbered = cases[i];
      Judgement judgement = run_case(numbered, first + i);
      if (judgement.verdict == Verdict::pass) continue;
      if (!numbered.spec.hidden) scores_.note_open(judgement);
      scores_.note_failure(judgement);
      if (ends_the_task(judgement.verdict)) {
        scores_.lose(scores_.names(), std::move(judgement), numbered.spec.hidden);
        return false;
      }
      const Verdict verdict = judgement.verdict;
      if (verdict == Verdict::wrong_answer) wrong.push_back(&numbered.spec);
      const bool may_replace = !numbered.spec.hidden && !numbered.spec.sampled;
      if (!told || (may_replace && telling_of(judgement) > telling_of(told->judgement))) {
        told = {std::move(judgement), numbered.spec.hidden, &numbered};
      }
      if (is_limit(verdict)) ++limits_;
      if (is_limit(verdict) || verdict == Verdict::not_implemented) break;
    }
    if (told) {
      look_for_cause(cases, wrong, *told);
      scores_.lose({group}, std::move(told->judgement), told->hidden);
    }
    return true;
  }

  bool may_experiment() const { return scene_.request.causes == CauseSearch::full; }

  /// @param wrong those of the group's cases that gave a wrong answer
  void look_for_cause(std::span<const NumberedCase> cases,
                      const std::vector<const CaseSpec*>& wrong, Told& told) {
    const bool may = may_experiment() && told.shown_by != nullptr && !told.shown_by->spec.hidden &&
                     !told.judgement.diagnostics.empty();
    if (!may) return;
    find_cause(wrong, *told.shown_by, told.judgement);
    std::vector<const CaseSpec*> group;
    for (const NumberedCase& each : cases) group.push_back(&each.spec);
    find_operation(group, *told.shown_by, told.judgement);
  }

  /// Of the first wrong values of the task of which only the looks are known. A cause that few
  /// elements speak for is told in better words than what reacts.
  /// @param wrong all cases of its group that gave a wrong answer
  /// @param numbered the one that is told
  void find_cause(const std::vector<const CaseSpec*>& wrong, const NumberedCase& numbered,
                  Judgement& judgement) {
    if (!lacks_a_cause(judgement) || std::exchange(has_searched_, true)) return;
    const auto [cause, smallest] = runner_.find_cause(wrong);
    Diagnostic& story = judgement.diagnostics.front();
    if (!cause || is_known_by_its_factor(story, *cause)) {
      if (smallest && *smallest != numbered.spec.parameters) add_smaller_problem(story, *smallest);
      return;
    }
    tell(*cause, numbered, judgement);
  }

  /// Which operation of the file makes it wrong: the cause, where nothing else has told it; of what
  /// the checkers have found, a word more.
  void find_operation(const std::vector<const CaseSpec*>& group, const NumberedCase& numbered,
                      Judgement& judgement) {
    const bool is_found = is_about_accesses(judgement);
    if (!is_found && !lacks_a_cause(judgement)) return;
    if (std::exchange(has_looked_for_operation_, true)) return;
    const auto line = is_found ? std::optional(judgement.diagnostics.front().line) : std::nullopt;
    const std::optional<FoundCause> cause = runner_.find_operation(numbered, group, line);
    if (!cause) return;
    if (!is_found) return tell(*cause, numbered, judgement);
    std::vector<std::string>& notes = judgement.diagnostics.front().notes;
    notes.insert(notes.begin(), cause->evidence.begin(), cause->evidence.end());
    notes.insert(notes.begin(), fmt::format("line {}: {}", cause->line, cause->message));
  }

  void tell(const FoundCause& cause, const NumberedCase& numbered, Judgement& judgement) const {
    DiagnoseContext context = scene_.context();
    context.case_name = numbered.spec.name;
    context.case_number = numbered.number;
    Diagnostic& story = judgement.diagnostics.front();
    story = story_of_cause(cause, numbered.spec.parameters, story, context);
    if (!cause.is_looks) judgement.telling = Telling::cause;
  }

  Judgement run_case(const NumberedCase& numbered, std::size_t place) {
    const CaseSpec& spec = numbered.spec;
    CaseRun run = runs_->take(place);
    if (run.revealed) scene_.tools.reveal(*std::move(run.revealed));
    look_for_reactions(numbered, run.judgement);
    result_.cases.push_back(
        {spec.name, run.judgement.verdict, spec.hidden, spec.group, run.peak_memory});
    keep_what_it_left(numbered, run, result_);
    tell_of_first_failure(spec, run.judgement);
    if (run.off_stream) scores_.note_off_stream(*run.off_stream, spec.hidden);
    // A case that leaks memory passes with a word about it, which the next ones would repeat.
    if (run.judgement.verdict == Verdict::pass && !spec.hidden && result_.diagnostics.empty()) {
      result_.diagnostics = run.judgement.diagnostics;
    }
    return std::move(run.judgement);
  }

  /// Replaces what is told of wrong numbers by their cause. One case tells what others of its
  /// function would.
  void look_for_reactions(const NumberedCase& numbered, Judgement& judgement) {
    constexpr std::size_t kMostTried = 5;
    if (judgement.verdict != Verdict::wrong_answer || numbered.spec.hidden) return;
    if (!may_experiment()) return;
    const std::string function = function_of(numbered.spec);
    const bool is_slip = judgement.without_cause.has_value();
    if (is_slip && makes_no_slip_.contains(function)) return drop_cause(judgement);
    if (tries_ == kMostTried || explained_.contains(function)) return;
    ++tries_;
    if (auto reaction = runner_.judge_reaction(numbered, judgement)) {
      const bool is_refuted = is_slip && !names_cause(reaction->diagnostics.front());
      (is_refuted ? makes_no_slip_ : explained_).insert(function);
      judgement = *std::move(reaction);
    }
  }

  /// While the other cases still run. Of a hidden case the task's own story tells what may be told.
  void tell_of_first_failure(const CaseSpec& spec, const Judgement& judgement) {
    const bool fails =
        judgement.verdict != Verdict::pass && judgement.verdict != Verdict::not_implemented;
    if (!fails || spec.hidden || judgement.diagnostics.empty() || !scene_.tools.failing) return;
    if (!std::exchange(has_told_, true)) {
      scene_.tools.failing(scene_.task(),
                           judgement.without_cause.value_or(judgement.diagnostics.front()));
    }
  }

  bool ends_the_task(Verdict verdict) const {
    const bool is_the_only_stub = scene_.task().kind == TaskKind::kernel &&
                                  verdict == Verdict::not_implemented &&
                                  result_.cases.size() == 1 && !has_several_functions();
    return is_the_only_stub || verdict == Verdict::grader_fault || verdict == Verdict::rejected;
  }

  /// Each may have a stub of its own.
  bool has_several_functions() const {
    const auto& cases = scene_.task().cases;
    return std::ranges::any_of(cases, [&](const CaseSpec& spec) {
      return function_of(spec) != function_of(cases.front());
    });
  }

  Judgement not_run() const {
    Diagnostic story;
    story.code = "RL0607";
    story.message = fmt::format(
        "its cases were not run, since {} groups of cases ended at a limit before", kMostLimits);
    story.file = scene_.task().file;
    story.help = "correct what reaches the limit first; then these cases run, too";
    return {Verdict::time_limit, {story}};
  }

  const TaskScene& scene_;
  CaseRunner& runner_;
  GroupScores& scores_;
  TaskResult& result_;
  RunsAhead* runs_ = nullptr;
  bool has_told_ = false;      ///< of a failing case
  bool has_searched_ = false;  ///< for a cause of wrong elements
  bool has_looked_for_operation_ = false;
  std::size_t tries_ = 0;                 ///< of calls with other parameters
  std::set<std::string> explained_ = {};  ///< functions of which these showed a cause
  std::set<std::string> makes_no_slip_;   ///< functions whose numbers only look like a slip's
  int limits_ = 0;                        ///< groups that ended at one
};

}  // namespace

bool grade_cases(const TaskScene& scene, CaseRunner& runner, const std::vector<NumberedCase>& cases,
                 GroupScores& scores, TaskResult& result) {
  return CaseGrader(scene, runner, scores, result).run(cases);
}

void note_for_people(TaskResult& result, const std::string& note) {
  const bool known = std::ranges::find(result.for_people, note) != result.for_people.end();
  if (!known) result.for_people.push_back(note);
}

void keep_what_it_left(const NumberedCase& numbered, const CaseRun& run, TaskResult& result) {
  keep_printed(numbered, run, result);
  for (const std::string& note : run.judgement.for_people) note_for_people(result, note);
  // Later cases' files take the place of earlier ones of the same name.
  if (numbered.spec.hidden) return;
  for (const auto& [name, text] : run.artifacts) result.artifacts[name] = text;
}

}  // namespace rooflab
