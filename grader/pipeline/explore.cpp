#include "grader/pipeline/explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "grader/diagnose/story.h"
#include "grader/pipeline/check.h"
#include "grader/pipeline/roofline.h"
#include "grader/pipeline/run_case.h"
#include "grader/report/text.h"
#include "simgpu/replay/names.h"
#include "simgpu/replay/page.h"
#include "simgpu/replay/wanted.h"

namespace rooflab {
namespace {

namespace replay = simgpu::replay;

bool may_be_shown(Verdict verdict) {
  return verdict == Verdict::wrong_answer || verdict == Verdict::race ||
         verdict == Verdict::runtime_error;
}

/// Its number among the public cases, from 1.
int number_of(const TaskSpec& task, const CaseSpec& wanted) {
  int number = 0;
  for (const CaseSpec& spec : task.cases) {
    if (!spec.hidden) ++number;
    if (&spec == &wanted) break;
  }
  return number;
}

/// Of those that can be stepped through, the finding that is told first.
std::optional<simgpu::Finding> finding_of(const RunOutcome& outcome) {
  const std::vector<simgpu::Finding> findings = of_two_warps_first(outcome.activity.findings);
  const auto found = std::ranges::find_if(findings, replay::can_be_shown);
  if (found == findings.end()) return std::nullopt;
  return *found;
}

/// The first output element that is wrong and was written.
std::optional<ElementPlace> wrong_element(const Problem& problem, const Oracle& oracle,
                                          const RunOutcome& outcome) {
  for (const TensorCheck& check : wrong_tensors(problem, oracle.expect(problem), outcome.outputs)) {
    const auto tensor = std::ranges::find(problem.tensors, check.tensor, &Tensor::name);
    for (std::size_t i = 0; i < check.wrong.size() && tensor != problem.tensors.end(); ++i) {
      const bool is_unwritten = i < check.unwritten.size() && check.unwritten[i];
      if (!check.wrong[i] || is_unwritten) continue;
      return ElementPlace{static_cast<std::size_t>(tensor - problem.tensors.begin()),
                          check.index.empty() ? i : check.index[i]};
    }
  }
  return std::nullopt;
}

/// One task whose case is shown.
class Explorer {
 public:
  /// @param stories what the task's result tells
  Explorer(const TaskScene& scene, const Oracle* oracle, NumberedCase numbered,
           const std::vector<Diagnostic>& stories)
      : scene_(scene),
        oracle_(oracle),
        runner_(scene, oracle),
        numbered_(std::move(numbered)),
        stories_(stories) {}

  Exploration run() {
    scene_.tools.progress(fmt::format("{}: looking for the smallest problem that fails like {}",
                                      scene_.task().id, numbered_.spec.name));
    make_smaller();
    scene_.tools.progress(fmt::format("{}: recording {}", scene_.task().id, numbered_.spec.name));
    const CaseRunner::Again first = runner_.run_again(numbered_, {});
    std::optional<replay::Recording> recording = record(first);
    Exploration shown{.task = scene_.task().id, .page = {}, .why_not = {}};
    if (!recording) {
      shown.why_not = fmt::format("no kernel of \"{}\" does what could be shown step by step",
                                  numbered_.spec.name);
      return shown;
    }
    rename_files(*recording);
    replay::name_values(*recording, source());
    const Judgement judgement = is_smaller_ ? runner_.judge_again(numbered_, first)
                                            : runner_.run(numbered_, false).judgement;
    if (is_smaller_ && !has_story_ && !judgement.diagnostics.empty()) {
      shown.code = judgement.diagnostics.front().code;
      shown.smaller = numbered_.spec.parameters;
    }
    shown.page = replay::page_html(*std::move(recording), words(judgement), source());
    return shown;
  }

 private:
  /// Goes on to a smaller problem that fails in the same way: first to that which the task's first
  /// story is about, so that both show one problem.
  void make_smaller() {
    if (!stories_.empty() && !stories_.front().smaller.empty()) {
      NumberedCase of_story = numbered_;
      of_story.spec.parameters = stories_.front().smaller;
      const Judgement judgement =
          runner_.judge_again(of_story, runner_.run_again(of_story, std::nullopt));
      has_story_ = judgement.verdict == Verdict::wrong_answer;
      is_smaller_ = has_story_;
      if (has_story_) numbered_ = std::move(of_story);
    }
    if (is_smaller_) return;
    if (auto smaller = runner_.shrink(numbered_)) {
      numbered_ = *std::move(smaller);
      is_smaller_ = true;
    }
  }

  std::optional<replay::Recording> record(const CaseRunner::Again& first) {
    RecordingRequest wanted;
    if (const auto finding = finding_of(first.outcome)) {
      wanted.wanted = replay::wanted_for(*finding);
      on_launches_ = replay::words_on_launches(*finding);
      return recorded(wanted).recording;
    }
    const bool has_values = oracle_ != nullptr && first.outcome.end == RunOutcome::End::returned;
    if (has_values) {
      wanted.element = wrong_element(first.problem, *oracle_, first.outcome);
    }
    if (wanted.element) {
      wanted.wanted.kind = replay::Wanted::Kind::last_store;
      is_of_store_ = true;
      if (auto recording = recorded(wanted).recording) return recording;
      is_of_store_ = false;
    }
    is_of_first_block_ = true;
    return recorded({}).recording;
  }

  /// Of what has to be looked for first, what was found.
  replay::Recorded recorded(RecordingRequest wanted) const {
    replay::Recorded recorded = runner_.run_again(numbered_, wanted).outcome.recorded;
    if (!recorded.next) return recorded;
    wanted.wanted = *recorded.next;
    return runner_.run_again(numbered_, wanted).outcome.recorded;
  }

  /// As the student calls them.
  void rename_files(replay::Recording& recording) const {
    const DiagnoseContext context = scene_.context();
    for (std::string& file : recording.files) {
      if (!file.empty()) file = student_path(file, context);
    }
    for (replay::Place& place : recording.places) {
      for (simgpu::InlinedCall& call : place.inlined_at) {
        call.file = student_path(call.file, context);
      }
    }
  }

  /// Of the submission's files alone.
  simgpu::SourceText source() const {
    return [sources =
                scene_.context().sources](const std::string& file) -> std::optional<std::string> {
      const auto found = sources.find(file);
      if (found == sources.end()) return std::nullopt;
      return found->second;
    };
  }

  replay::PageWords words(const Judgement& judgement) const {
    replay::PageWords words;
    words.title =
        fmt::format("{}, case {}: {}", scene_.task().id, numbered_.number, numbered_.spec.name);
    words.lines.push_back(parameter_words());
    if (!judgement.diagnostics.empty()) {
      const Diagnostic& seen = judgement.diagnostics.front();
      const Diagnostic& story = has_story_ ? stories_.front() : seen;
      words.code = story.code.text();
      words.message = one_line(story.message);
      for (const std::string& line : seen.evidence) words.lines.push_back(one_line(line));
      if (!story.help.empty()) words.lines.push_back(one_line(story.help));
    }
    if (!on_launches_.empty()) words.lines.push_back(on_launches_);
    if (is_of_store_) {
      words.lines.emplace_back("Shown is the warp that stored the first wrong element last.");
    }
    if (is_of_first_block_) {
      words.lines.emplace_back("Shown are the first steps of the first block.");
    }
    return words;
  }

  std::string parameter_words() const {
    const std::string parameters = text_of(numbered_.spec.parameters);
    if (!is_smaller_) return fmt::format("The case has {}.", parameters);
    return fmt::format("This is a smaller problem that fails like the case: {}.", parameters);
  }

  const TaskScene& scene_;
  const Oracle* oracle_;
  CaseRunner runner_;
  NumberedCase numbered_;  ///< with smaller parameters, once those are known
  const std::vector<Diagnostic>& stories_;
  bool is_smaller_ = false;
  bool has_story_ = false;  ///< the first of the stories is about this problem
  std::string on_launches_;
  bool is_of_store_ = false, is_of_first_block_ = false;
};

}  // namespace

const CaseSpec* smallest_failing_case(const TaskSpec& task, const TaskResult& result,
                                      const Oracle* oracle) {
  const CaseSpec* smallest = nullptr;
  double least = 0;
  for (const CaseSpec& spec : task.cases) {
    if (spec.hidden || spec.sampled || spec.vast_gb != 0) continue;
    const bool fails = std::ranges::any_of(result.cases, [&](const CaseResult& one) {
      return one.name == spec.name && !one.hidden && may_be_shown(one.verdict);
    });
    if (!fails) continue;
    const Work work = oracle != nullptr ? oracle->work(spec.parameters) : Work{};
    const double size = work.compulsory_bytes + total_flops(work);
    if (smallest != nullptr && size >= least) continue;
    smallest = &spec;
    least = size;
  }
  return smallest;
}

Exploration explore(const PartSpec& part, const GradeRequest& request, const GradeTools& tools,
                    const std::vector<BuiltTask>& built, const std::vector<TaskResult>& results) {
  if (tools.device.time_kind() != "modelled") {
    return {.task = {}, .page = {}, .why_not = "only a simulated GPU can be stepped through"};
  }
  RunSlots slots(1);
  for (std::size_t i = 0; i < built.size() && i < results.size(); ++i) {
    const TaskSpec& task = *built[i].task;
    if (is_text(task) || built[i].build.library.empty()) continue;
    const auto oracle = task.oracle.empty() ? nullptr : tools.oracle(task.oracle);
    const CaseSpec* const spec = smallest_failing_case(task, results[i], oracle.get());
    if (spec == nullptr) continue;
    const TaskScene scene{part, request, tools, built[i], slots};
    const NumberedCase numbered{.spec = *spec, .number = number_of(task, *spec)};
    return Explorer(scene, oracle.get(), numbered, results[i].diagnostics).run();
  }
  return {.task = {}, .page = {}, .why_not = "no public case fails that can be stepped through"};
}

}  // namespace rooflab
