#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "grader/mutation/mutant_search.h"
#include "grader/mutation/slice.h"
#include "grader/pipeline/device_work.h"
#include "grader/pipeline/grade_task.h"
#include "grader/pipeline/judge.h"
#include "grader/pipeline/seeds.h"
#include "grader/reactions/cause_search.h"

namespace rooflab {

/// One case with its number among the public ones, 0 for hidden and timed ones.
struct NumberedCase {
  CaseSpec spec;
  int number = 0;
  /// Of a timed one: it is worth a second call under the checkers, since a race may need the full
  /// size.
  bool is_checked_again = false;
  /// Of a timed one: of the work that a call may take before it is cut short.
  double share_of_work = 1;
};

class RunSlots;

/// Whether the device runs all of a case, and not only a part of it.
inline bool is_whole(const CaseSpec& spec) { return !spec.sampled && spec.vast_gb == 0; }

struct BuiltMutants;
struct TermSample;

/// What the stages of one task share.
struct TaskScene {
  const PartSpec& part;
  const GradeRequest& request;
  const GradeTools& tools;
  const BuiltTask& built;
  RunSlots& slots;

  const TaskSpec& task() const { return *built.task; }
  /// For stories of the task's own file.
  DiagnoseContext context() const;
};

/// One run of a case, and what it came to.
struct CaseRun {
  RunOutcome outcome;
  Judgement judgement;
  std::optional<Judgement> repeats;  ///< of a timed run's other calls, where they are not right
  /// Of work that is not ordered with the stream that the function is given, in a case that is not
  /// about it: what such work costs, another group decides.
  std::optional<Judgement> off_stream;
  std::optional<std::uint64_t> peak_memory;      ///< where it is to be shown and is known
  std::map<std::string, std::string> artifacts;  ///< of a right one
  std::optional<RevealedCase> revealed;          ///< of a hidden one that fails, where asked for
  TensorBytes bytes;
};

/// The case that is called several times in one process, and the one that is called before it.
struct CalledAgain {
  const CaseSpec* largest = nullptr;  ///< of the task's own cases, as the other one; may be null
  const CaseSpec* smaller = nullptr;
  /// The one that is called again and again behind them; null where even that takes its time.
  const CaseSpec* smallest = nullptr;
};

/// A run. A fault of ours is tried once more before it becomes a verdict.
RunOutcome run_past_fault(Device& device, const RunRequest& request);

/// Runs and judges the cases of one task. Where the device runs side by side, so do its cases.
class CaseRunner {
 public:
  /// @param oracle null for tasks whose cases hold their results
  CaseRunner(const TaskScene& scene, const Oracle* oracle) : scene_(scene), oracle_(oracle) {}

  /// @param timed as it is timed, with the checkers off
  CaseRun run(const NumberedCase& numbered, bool timed);

  /// The first call of a case once more, unjudged.
  struct Again {
    Problem problem;
    RunOutcome outcome;
  };
  Again run_again(const NumberedCase& numbered,
                  const std::optional<RecordingRequest>& recording) const;
  /// What such a call comes to by itself, without what only further calls show.
  Judgement judge_again(const NumberedCase& numbered, const Again& again) const;

  /// The case with the smallest parameters found whose first call fails in the same way: by the
  /// same verdict and code, at the same line. They are parameters that the public cases allow
  /// (ParameterDomain), tried in two dozen calls at most; nothing where none of them fails
  /// so, and where a problem cannot be made up.
  std::optional<NumberedCase> shrink(const NumberedCase& failing) const;

  /// What makes cases wrong of which only the looks are known, and the smallest problem that is
  /// wrong: nothing where that cannot be found out, as on a GPU that makes no further calls in one
  /// process. It takes about a second.
  /// @param failed wrong answers of one group; hidden cases, and those that run in part, are passed
  /// over
  SearchedCause find_cause(const std::vector<const CaseSpec*>& failed) const;
  /// The operation of the task's file that makes a case wrong: with another one in its place, all
  /// cases of its group are right. Its file is built once more for it. Nothing where there is none,
  /// where several places would do, or on a GPU that makes no such calls.
  /// @param numbered fails
  /// @param group all of its group's cases; hidden ones, and those that run in part, are passed
  /// over
  /// @param found the line of what the device's checkers have found, which must find nothing then;
  ///              nullopt where values are wrong
  std::optional<FoundCause> find_operation(const NumberedCase& numbered,
                                           const std::vector<const CaseSpec*>& group,
                                           std::optional<std::uint32_t> found) const;
  /// The judgement of a wrong answer of named results with its cause, where calls with other
  /// parameters show one and nothing told it before; without it, where they refute it; nothing
  /// where they do neither. For public cases and a simulated GPU alone.
  std::optional<Judgement> judge_reaction(const NumberedCase& numbered,
                                          const Judgement& judgement) const;

 private:
  std::vector<TermSample> samples_around(const NumberedCase& numbered) const;
  bool is_no_slip(const std::vector<TermSample>& samples) const;
  mutation::SearchResult try_mutants(const BuiltMutants& built, const NumberedCase& numbered,
                                     const std::vector<const CaseSpec*>& group,
                                     const mutation::LinesOfSlice* access, double& left) const;
  mutation::LinesOfSlice slice_of_access(std::optional<std::uint32_t> found) const;
  Values results_of_case(const Values& parameters, const Problem& problem) const;
  bool may_shrink(const CaseSpec& spec) const;
  std::vector<Values> other_cases(const std::vector<const CaseSpec*>& group) const;
  /// Whether the oracle takes a problem with these parameters.
  bool is_taken(const Values& parameters) const;
  std::vector<Values> smaller_problems(const CaseSpec& spec) const;
  std::vector<Values> a_little_smaller(const Values& parameters) const;
  RunRequest small_request(const Problem& problem, const NumberedCase& numbered) const;
  Called call_all(const NumberedCase& numbered, std::size_t count,
                  const std::function<Problem(std::size_t)>& posed) const;
  std::optional<ElementOrigin> origin_of(const NumberedCase& numbered, const Problem& problem,
                                         const ElementPlace& place) const;
  CaseSeeds seeds_of(const std::string& draw) const;
  Problem problem_of(const CaseSpec& spec, const std::string& draw) const;
  RunRequest request_of(const Problem& problem, bool timed, const NumberedCase& numbered) const;
  bool is_called_again(const CaseSpec& spec) const;
  double bytes_of(const CaseSpec& spec) const;
  bool is_small(const CaseSpec& spec) const;
  std::size_t repeats_of(const CaseSpec& spec) const;
  std::vector<Values> public_parameters() const;
  std::optional<Values> expected_at(const Values& parameters) const;
  std::optional<Judgement> judge_further(const NumberedCase& numbered,
                                         const DiagnoseContext& place) const;
  RunOutcome run_with_retry(const RunRequest& request) const;
  void look_closer(const JudgedRun& run, CaseRun& result);
  void look_backwards(const JudgedRun& run, const NumberedCase& numbered, CaseRun& result) const;
  std::optional<Judgement> judge_off_stream(const JudgedRun& run,
                                            std::vector<simgpu::Finding> findings) const;
  const CalledAgain& called_again() const;
  CalledAgain find_called_again() const;

  const TaskScene& scene_;
  const Oracle* oracle_;
  mutable CalledAgain called_again_;
  mutable std::once_flag called_again_known_;
  bool looked_closer_ = false;  ///< where runs come one after the other
};

}  // namespace rooflab
