#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/diagnose/story.h"
#include "grader/mutation/constants.h"
#include "grader/mutation/mutant_search.h"
#include "grader/mutation/mutant_words.h"
#include "grader/mutation/mutants.h"
#include "grader/mutation/slice.h"
#include "grader/mutation/variant_header.h"
#include "grader/pipeline/check.h"
#include "grader/pipeline/grade_task.h"
#include "grader/pipeline/run_case.h"
#include "grader/reactions/parameter_domain.h"
#include "grader/spec/pattern.h"

namespace rooflab {

/// A file of the task with all of its mutants, built.
struct BuiltMutants {
  std::filesystem::path library;
  std::vector<mutation::Mutant> mutants;
};

namespace {

using mutation::MutableSource;
using mutation::Tried;

/// A number that is followed in all calls of a problem.
struct Followed {
  std::string name;  ///< of a tensor or a result
  std::size_t element = 0;
};

/// What is right for one problem, and how results are off.
struct RightResults {
  Problem problem;
  std::vector<Expected> tensors;
  Values results;                 ///< of a `values` task
  const Oracle* judge = nullptr;  ///< of a `values` task: it may say more of what came back
  std::optional<Followed> followed = {};

  /// An oracle that takes no results for right ones knows what is right.
  bool knows_any() const { return !tensors.empty() || !results.empty() || complaints_of({}) != 0; }

  Tried tell(const VariantCall& call) {
    Tried tried{
        .is_sound = call.is_sound, .failure = call.failure_code, .most_blocks = call.most_blocks};
    if (!call.is_sound) return tried;
    if (judge != nullptr) {
      judge_results(wrong_results(call.results, results), call.results, tried);
      tried.wrong += complaints_of(call.results);
    } else {
      judge_tensors(wrong_tensors(problem, tensors, call.outputs), tried);
    }
    return tried;
  }

 private:
  /// How often the oracle complains of results, whatever the device did meanwhile.
  std::size_t complaints_of(const Values& got) const {
    if (judge == nullptr) return 0;
    return judge->judge(problem, {.results = got, .activity = {}, .keeps_records = false}).size();
  }

  void judge_results(const Values& wrong, const Values& got, Tried& tried) {
    tried.wrong = wrong.size();
    if (!wrong.empty() && !followed) followed = Followed{wrong.begin()->first};
    if (!followed || !wrong.contains(followed->name)) return;
    const auto found = got.find(followed->name);
    if (found == got.end()) return;
    const auto number = [](const Value& value) {
      const double* const real = std::get_if<double>(&value);
      const std::int64_t* const whole = std::get_if<std::int64_t>(&value);
      return real != nullptr    ? *real
             : whole != nullptr ? static_cast<double>(*whole)
                                : std::nan("");
    };
    tried.error = number(found->second) - number(results.at(followed->name));
  }

  void judge_tensors(const std::vector<TensorCheck>& wrong, Tried& tried) {
    for (const TensorCheck& check : wrong) {
      tried.wrong += std::max<std::uint64_t>(check.wrong_count, 1);
      if (!followed) {
        const auto first = std::ranges::find(check.wrong, true);
        if (first != check.wrong.end()) {
          followed = Followed{check.tensor, static_cast<std::size_t>(first - check.wrong.begin())};
        }
      }
      if (!followed || followed->name != check.tensor) continue;
      const std::size_t i = followed->element;
      if (i < check.got.size())
        tried.error = (check.got[i] - check.expected[i]) / check.tolerance[i];
    }
  }
};

/// Lines of a file that the compiler complains of.
std::vector<std::uint32_t> lines_with_errors(const std::string& messages, const std::string& file) {
  std::vector<std::uint32_t> lines;
  const Pattern place(R"(([\w.-]+)[(:](\d+)[):])");
  for (const Pattern::Match& match : place.all(messages)) {
    const std::string& line = match.groups[2];
    if (match.groups[1] != file || line.size() > 6) continue;
    lines.push_back(static_cast<std::uint32_t>(std::stoul(line)));
  }
  return lines;
}

/// Builds the task's own file with mutants. Lines that the compiler does not take so are left alone
/// then; what cannot be built at all has none.
/// @param skip lines that have none
std::optional<BuiltMutants> build_mutants(const TaskScene& scene, std::vector<std::uint32_t> skip) {
  std::vector<SourceFile> sources;
  std::size_t own = scene.built.files.size();
  for (const NamedFile& file : scene.built.files) {
    if (file.name == scene.task().file) own = sources.size();
    const auto& headers = scene.part.headers;
    const bool is_header = std::ranges::find(headers, file.name) != headers.end();
    sources.push_back({file.name, file.submitted.text, is_header});
  }
  if (own >= sources.size()) return std::nullopt;
  const std::string original = sources[own].text;
  sources[own].is_timed = false;
  sources.push_back({mutation::kVariantHeader, std::string(mutation::variant_header()), true});
  constexpr int kMostBuilds = 3;
  for (int i = 0; i < kMostBuilds; ++i) {
    MutableSource mutable_source = mutation::with_mutants(original, skip);
    if (mutable_source.mutants.empty()) return std::nullopt;
    sources[own].text = mutable_source.text;
    const BuildOutcome built = scene.tools.build(scene.task(), sources);
    if (built.end == BuildOutcome::End::built) {
      return BuiltMutants{built.library, std::move(mutable_source.mutants)};
    }
    const auto lines = lines_with_errors(built.messages, sources[own].name);
    if (built.end == BuildOutcome::End::fault || lines.empty()) return std::nullopt;
    skip.insert(skip.end(), lines.begin(), lines.end());
  }
  return std::nullopt;
}

/// Calls the file with mutants, and judges what comes of it. All calls together may take so much
/// work and no more, so that what is found does not depend on the machine.
class MutantCalls {
 public:
  struct Tools {
    Device& device;
    /// The problem of these parameters with what is right for it.
    std::function<RightResults(const Values& parameters, int draw)> pose;
    std::function<RunRequest(const Problem&)> request;
  };
  /// @param left work that they may take, of which they take theirs
  MutantCalls(Tools tools, double& left) : tools_(std::move(tools)), left_(left) {}

  std::vector<Tried> operator()(const std::vector<mutation::Trial>& trials) {
    std::vector<RightResults*> right;
    double planned = 0;
    for (const mutation::Trial& trial : trials) {
      Known& known = known_for(trial);
      planned += known.work.value_or(last_work_);
      if (!known.is_known || planned > left_) break;
      right.push_back(&known.right);
    }
    if (right.empty()) return {};
    // The largest problem comes first: what it takes is a bound for the others.
    const auto most = std::ranges::max_element(
        right, {}, [](const RightResults* each) { return bytes_of(each->problem); });
    RunRequest request = tools_.request((*most)->problem);
    for (std::size_t i = 0; i < right.size(); ++i) request.variants.push_back(trials[i].variant);
    request.fresh = [&](int index) { return right[static_cast<std::size_t>(index)]->problem; };
    const RunOutcome outcome = tools_.device.run(request);
    std::vector<Tried> tried;
    for (std::size_t i = 0; i < outcome.variant_calls.size(); ++i) {
      const VariantCall& call = outcome.variant_calls[i];
      last_work_ = kOfACall + static_cast<double>(call.warp_instructions);
      left_ -= last_work_;
      Known& known = known_for(trials[i]);
      if (!known.work) known.work = last_work_;
      tried.push_back(known.right.tell(call));
      tried.back().work = last_work_;
    }
    return tried;
  }

  /// In warp instructions: what a call costs beside those that it executes, and all of them.
  static constexpr double kOfACall = 5e4, kOfAll = 3e8;

 private:
  struct Known {
    RightResults right;
    bool is_known = false;            ///< RightResults::knows_any()
    std::optional<double> work = {};  ///< of the first call
  };

  static std::size_t bytes_of(const Problem& problem) {
    std::size_t bytes = 0;
    for (const Tensor& tensor : problem.tensors) bytes += tensor.bytes();
    return bytes;
  }

  Known& known_for(const mutation::Trial& trial) {
    const auto [place, is_new] = known_.try_emplace({text_of(trial.parameters), trial.draw});
    Known& known = place->second;
    if (is_new) {
      known.right = tools_.pose(trial.parameters, trial.draw);
      known.is_known = known.right.knows_any();
    }
    return known;
  }

  const Tools tools_;
  std::map<std::pair<std::string, int>, Known> known_;
  double& left_;
  double last_work_ = kOfACall;
};

}  // namespace

/// What a public case of a `values` task has to give.
/// @param problem of its parameters
Values CaseRunner::results_of_case(const Values& parameters, const Problem& problem) const {
  for (const CaseSpec& spec : scene_.task().cases) {
    if (!spec.hidden && spec.parameters == parameters && !spec.expect.empty()) return spec.expect;
  }
  return oracle_->expect_results(problem);
}

/// Small public cases of other groups, in which the function does the same.
std::vector<Values> CaseRunner::other_cases(const std::vector<const CaseSpec*>& group) const {
  constexpr std::size_t kMost = 6;
  std::vector<Values> others;
  const auto function = [](const CaseSpec& spec) {
    const auto found = spec.parameters.find("function");
    return found == spec.parameters.end() ? Value{} : found->second;
  };
  for (const CaseSpec& spec : scene_.task().cases) {
    const bool is_own = std::ranges::any_of(
        group, [&](const CaseSpec* own) { return own->parameters == spec.parameters; });
    const bool may = !spec.hidden && !spec.late_inputs && is_whole(spec) &&
                     (scene_.task().kind == TaskKind::values || is_small(spec)) &&
                     function(spec) == function(*group.front());
    if (may && !is_own && others.size() < kMost) others.push_back(spec.parameters);
  }
  return others;
}

std::optional<FoundCause> CaseRunner::find_operation(const NumberedCase& numbered,
                                                     const std::vector<const CaseSpec*>& of_group,
                                                     std::optional<std::uint32_t> found) const {
  std::vector<const CaseSpec*> group = of_group;
  std::erase_if(group, [](const CaseSpec* spec) {
    return spec->hidden || spec->late_inputs || !is_whole(*spec);
  });
  const bool may = oracle_ != nullptr && scene_.tools.device.checks_every_run() && !group.empty() &&
                   !numbered.spec.hidden && is_whole(numbered.spec);
  if (!may) return std::nullopt;
  scene_.tools.progress(scene_.task().id + ": looking for the operation");
  try {
    // Of an access first what its address depends on: fewer changes, and faster ones.
    mutation::SearchResult result;
    double left = MutantCalls::kOfAll;
    const mutation::LinesOfSlice slice = slice_of_access(found);
    std::vector<std::vector<std::uint32_t>> to_skip{{}};
    if (!slice.unrelated.empty()) to_skip.insert(to_skip.begin(), slice.unrelated);
    for (const auto& skip : to_skip) {
      const auto built = build_mutants(scene_, skip);
      if (!built) continue;
      result = try_mutants(*built, numbered, group, found ? &slice : nullptr, left);
      if (!result.right.empty() || result.was_cut_short) break;
    }
    const std::vector<mutation::RightMutant> best = mutation::best_of(result, slice.related);
    if (best.empty()) return std::nullopt;
    const mutation::OperationWords words = mutation::words_of(result, best, group.size());
    return FoundCause{.code = "RL0554",
                      .message = words.message,
                      .evidence = words.evidence,
                      .help = words.help,
                      .parameters = result.parameters,
                      .file = scene_.task().file,
                      .line = words.line,
                      .label = words.label};
  } catch (const std::exception&) {
    // An oracle that does not take a smaller problem: the case keeps the story that it has.
    return std::nullopt;
  }
}

/// What an access depends on; nothing where no access was found, or nobody knows its line.
mutation::LinesOfSlice CaseRunner::slice_of_access(std::optional<std::uint32_t> found) const {
  const auto own = std::ranges::find(scene_.built.files, scene_.task().file, &NamedFile::name);
  if (!found || *found == 0 || own == scene_.built.files.end()) return {};
  return mutation::slice_of(mutation::Code(own->submitted.text), *found);
}

mutation::SearchResult CaseRunner::try_mutants(const BuiltMutants& built,
                                               const NumberedCase& numbered,
                                               const std::vector<const CaseSpec*>& group,
                                               const mutation::LinesOfSlice* access,
                                               double& left) const {
  const bool is_values = scene_.task().kind == TaskKind::values;
  const auto pose = [&](const Values& parameters, int draw) {
    CaseSpec drawn = numbered.spec;
    drawn.parameters = parameters;
    RightResults right;
    right.problem = problem_of(drawn, fmt::format("{}, operation {}", numbered.spec.name, draw));
    if (is_values) {
      right.results = results_of_case(parameters, right.problem);
      right.judge = oracle_;
    } else {
      right.tensors = oracle_->expect(right.problem);
    }
    return right;
  };
  const auto request_for = [&](const Problem& problem) {
    RunRequest request = small_request(problem, numbered);
    request.library = built.library;
    request.variants_checked = access != nullptr;
    request.variants_timed = is_values;  // a program may measure them
    return request;
  };
  MutantCalls calls({scene_.tools.device, pose, request_for}, left);
  const auto own = std::ranges::find(scene_.built.files, scene_.task().file, &NamedFile::name);
  const mutation::Code code(own->submitted.text);
  mutation::SearchTools tools;
  tools.candidates =
      is_values ? std::vector<Values>{numbered.spec.parameters} : smaller_problems(numbered.spec);
  for (const CaseSpec* spec : group) tools.cases.push_back(spec->parameters);
  tools.others = other_cases(group);
  if (!is_values) {
    tools.smaller = [this](const Values& parameters) { return a_little_smaller(parameters); };
  }
  tools.call = [&](const std::vector<mutation::Trial>& trials) { return calls(trials); };
  tools.most_work = left;
  if (access != nullptr) tools.steps_to = access->related;
  tools.value_of = [&](const std::string& name) { return mutation::value_of(name, code); };
  return mutation::find_right_mutants(built.mutants, tools);
}

}  // namespace rooflab
