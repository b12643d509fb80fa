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

/// The finding that is told first, if it has threads.
std::optional<simgpu::Finding> finding_of(const RunOutcome& outcome) {
  const auto has_threads = [](const simgpu::Finding& finding) {
    return finding.where.by_thread && finding.where.line != 0 &&
           finding.kind() != simgpu::FindingKind::leak;
  };
  const auto found = std::ranges::find_if(outcome.activity.findings, has_threads);
  if (found == outcome.activity.findings.end()) return std::nullopt;
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
  Explorer(const TaskScene& scene, const Oracle* oracle, const NumberedCase& numbered)
      : scene_(scene), oracle_(oracle), runner_(scene, oracle), numbered_(numbered) {}

  Exploration run() {
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
    shown.page = replay::page_html(*std::move(recording), words(), source());
    return shown;
  }

 private:
  std::optional<replay::Recording> record(const CaseRunner::Again& first) {
    RecordingRequest wanted;
    if (const auto finding = finding_of(first.outcome)) {
      wanted.wanted.kind = replay::Wanted::Kind::finding;
      wanted.wanted.where = finding->where;
      wanted.wanted.other = finding->other;
      return runner_.run_again(numbered_, wanted).outcome.recorded.recording;
    }
    const bool has_values = oracle_ != nullptr && first.outcome.end == RunOutcome::End::returned;
    if (has_values) {
      wanted.element = wrong_element(first.problem, *oracle_, first.outcome);
    }
    if (wanted.element) {
      wanted.wanted.kind = replay::Wanted::Kind::last_store;
      const auto store = runner_.run_again(numbered_, wanted).outcome.recorded.store;
      if (store) {
        is_of_store_ = true;
        wanted.wanted = *store;
        return runner_.run_again(numbered_, wanted).outcome.recorded.recording;
      }
    }
    is_of_first_block_ = true;
    wanted = {};
    return runner_.run_again(numbered_, wanted).outcome.recorded.recording;
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

  replay::PageWords words() {
    replay::PageWords words;
    words.title =
        fmt::format("{}, case {}: {}", scene_.task().id, numbered_.number, numbered_.spec.name);
    const Judgement judgement = runner_.run(numbered_, false).judgement;
    if (!judgement.diagnostics.empty()) {
      const Diagnostic& story = judgement.diagnostics.front();
      words.code = story.code.text();
      words.message = one_line(story.message);
      for (const std::string& line : story.evidence) words.lines.push_back(one_line(line));
      if (!story.help.empty()) words.lines.push_back(one_line(story.help));
    }
    if (is_of_store_) {
      words.lines.emplace_back("Shown is the warp that stored the first wrong element last.");
    }
    if (is_of_first_block_) {
      words.lines.emplace_back("Shown are the first steps of the first block.");
    }
    return words;
  }

  const TaskScene& scene_;
  const Oracle* oracle_;
  CaseRunner runner_;
  const NumberedCase& numbered_;
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
    return Explorer(scene, oracle.get(), numbered).run();
  }
  return {.task = {}, .page = {}, .why_not = "no public case fails that can be stepped through"};
}

}  // namespace rooflab
