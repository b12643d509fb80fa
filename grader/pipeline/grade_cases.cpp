#include "grader/pipeline/grade_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include "grader/spec/groups.h"

namespace rooflab {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Of time limits of a case: what failing cases of one task may take together.
constexpr int kMostFailedLimits = 3;

/// Whether the other cases of a group would only take as long, or end at the same stub.
bool ends_its_group(Verdict verdict) {
  switch (verdict) {
    case Verdict::time_limit:
    case Verdict::memory_limit:
    case Verdict::output_limit:
    case Verdict::disk_limit:
    case Verdict::not_implemented:
      return true;
    default:
      return false;
  }
}

/// Grades the cases of one task; holds what its groups share.
class CaseGrader {
 public:
  CaseGrader(const TaskScene& scene, CaseRunner& runner, GroupScores& scores, TaskResult& result)
      : scene_(scene), runner_(runner), scores_(scores), result_(result) {}

  bool run(const std::vector<NumberedCase>& cases) {
    std::size_t grouped = 0;
    for (const std::string& group : scores_.names()) {
      std::vector<NumberedCase> own;
      for (const NumberedCase& numbered : cases) {
        if (numbered.spec.group == group) own.push_back(numbered);
      }
      if (!own.empty() && !run_group(group, own)) return false;
      grouped += own.size();
    }
    if (grouped != cases.size()) throw std::logic_error("a case belongs to no group of its task");
    return true;
  }

 private:
  /// The first failure of a group, or a later one that tells more, whose case may be shown.
  struct Told {
    Judgement judgement;
    bool hidden = false;
  };

  bool run_group(const std::string& group, const std::vector<NumberedCase>& cases) {
    if (failed_time_ > limit()) {
      scores_.lose({group}, not_run());
      return true;
    }
    std::optional<Told> told;
    for (const NumberedCase& numbered : cases) {
      if (told && failed_time_ > limit()) break;
      Judgement judgement = run_case(numbered);
      if (judgement.verdict == Verdict::pass) continue;
      if (ends_the_task(judgement.verdict)) {
        scores_.lose(scores_.names(), std::move(judgement), numbered.spec.hidden);
        return false;
      }
      const bool is_last = ends_its_group(judgement.verdict);
      const bool may_replace = !numbered.spec.hidden && !numbered.spec.sampled;
      if (!told || (may_replace && telling_of(judgement) > telling_of(told->judgement))) {
        told = {std::move(judgement), numbered.spec.hidden};
      }
      if (is_last) break;
    }
    if (told) scores_.lose({group}, std::move(told->judgement), told->hidden);
    return true;
  }

  Judgement run_case(const NumberedCase& numbered) {
    const CaseSpec& spec = numbered.spec;
    scene_.tools.progress(fmt::format("{}: {}", scene_.task().id, spec.name));
    const auto start = Clock::now();
    CaseRun run = runner_.run(numbered, false);
    result_.cases.push_back(
        {spec.name, run.judgement.verdict, spec.hidden, spec.group, run.peak_memory});
    keep_what_it_left(numbered, run, result_);
    if (run.judgement.verdict != Verdict::pass) {
      failed_time_ += Clock::now() - start;
    } else if (result_.diagnostics.empty()) {
      // A case that leaks memory passes with a word about it, which the next ones would repeat.
      result_.diagnostics = run.judgement.diagnostics;
    }
    return std::move(run.judgement);
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

  Seconds limit() const { return Seconds(kMostFailedLimits * scene_.task().time_limit_s); }

  Judgement not_run() const {
    Diagnostic story;
    story.code = "RL0607";
    story.message = fmt::format(
        "its cases were not run: those that fail before them took {:.0f} s, all the time that "
        "there "
        "is",
        failed_time_.count());
    story.file = scene_.task().file;
    story.help = "correct what takes so long first; then these cases are run, too";
    return {Verdict::time_limit, {story}};
  }

  const TaskScene& scene_;
  CaseRunner& runner_;
  GroupScores& scores_;
  TaskResult& result_;
  Seconds failed_time_{0};
};

}  // namespace

bool grade_cases(const TaskScene& scene, CaseRunner& runner, const std::vector<NumberedCase>& cases,
                 GroupScores& scores, TaskResult& result) {
  return CaseGrader(scene, runner, scores, result).run(cases);
}

void keep_what_it_left(const NumberedCase& numbered, const CaseRun& run, TaskResult& result) {
  // Of the first case that fails, else of the first one. A print could tell a hidden case's sizes.
  const auto failed = [&](const CaseResult& one) {
    return !one.hidden && one.verdict != Verdict::pass && one.name != numbered.spec.name;
  };
  const bool fails_first =
      run.judgement.verdict != Verdict::pass && std::ranges::none_of(result.cases, failed);
  if (!numbered.spec.hidden && !run.outcome.printed.empty() &&
      (result.printed.empty() || fails_first)) {
    result.printed = run.outcome.printed;
  }
  // Later cases' files take the place of earlier ones of the same name.
  for (const auto& [name, text] : run.artifacts) result.artifacts[name] = text;
}

}  // namespace rooflab
