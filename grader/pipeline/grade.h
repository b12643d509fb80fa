#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"
#include "grader/device/device.h"
#include "grader/pipeline/build.h"
#include "grader/pipeline/implementations.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"
#include "grader/spec/revealed.h"

namespace rooflab {

/// Something was asked for that does not exist: an unknown task, a missing submission. One line,
/// with the next step in it.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How much is done to find out why a case fails, once that it fails is known.
enum class CauseSearch : std::uint8_t {
  full,   ///< experiments, too: calls with other inputs, and of the file with one operation changed
  quick,  ///< what the cases themselves show
};

/// What to grade.
struct GradeRequest {
  std::filesystem::path submission;    ///< has the layout of starter/
  std::optional<std::string> task;     ///< only this one
  std::vector<std::string> only = {};  ///< where no task is named: only these; empty: all
  std::optional<int>
      case_number;  ///< only this public case, from 1; then nothing is timed or scored
  Seed seed;
  /// Whom the submission may be of, as student_id() gives it, the likeliest first; "" is nobody,
  /// who has the page's own numbers. Without any the submission's own word counts.
  std::vector<std::string> students = {};
  std::filesystem::path solutions;  ///< answer keys, where there are any
  double hint_cost = 0;             ///< see CourseSpec
  int versions_graded_again = 0;    ///< likewise, of each work log
  unsigned jobs = 1;                ///< builds at a time, and tasks where the device allows it
  CauseSearch causes = CauseSearch::full;
  bool times_only = false;  ///< only timed cases, each once: of authors, who know that it is right
};

/// A failing public case as a page to step through.
struct Exploration {
  std::string task;
  std::string page;        ///< HTML; empty where there is none
  std::string why_not;     ///< then
  simgpu::Code code = {};  ///< of the story that the page tells
  /// Parameters of the problem that is shown, where it is smaller than any failing case and no
  /// story names it yet.
  Values smaller = {};
};

/// What the stages work with; tests put fakes here.
struct GradeTools {
  Device& device;
  std::function<BuildOutcome(const TaskSpec&, const std::vector<SourceFile>&)> build;
  std::function<std::unique_ptr<Oracle>(const std::string& name)> oracle;
  std::function<void(const std::string&)> progress;  ///< one line of what goes on
  /// What a student's tests of this task are run against.
  std::function<std::vector<Implementation>(const TaskSpec&)> implementations = {};
  /// Runs a tool that reads a built submission, as simgpu::host_code has it. Empty: host code's
  /// lines stay unknown.
  std::function<std::string(const std::vector<std::string>& command)> read_library = {};
  /// Told what the device did in each run, under "task: case"; may be empty. Tasks run one after
  /// the other for it, so that it is told in their order.
  std::function<void(const std::string& run, const simgpu::Activity&)> observe = {};
  /// Given each hidden case that fails, whole, by several threads; only where instructors alone see
  /// what comes of it. May be empty.
  std::function<void(RevealedCase)> reveal = {};
  /// Told of each task as soon as it is graded, one at a time: of files that do not compile before
  /// anything runs, of the others in the order of the part. May be empty.
  std::function<void(const TaskResult&)> graded = {};
  /// Told of the first failing case of a task while its others still run. May be empty.
  std::function<void(const TaskSpec&, const Diagnostic&)> failing = {};
  /// Given the smallest failing public case of the first task that has one, once all are graded. It
  /// is run again for it; without this function it is not. May be empty.
  std::function<void(Exploration)> explore = {};
};

/// @throws UsageError for a task that the part has not, with the names of those that it has.
const TaskSpec& find_task(const PartSpec& part, const std::string& id);

/// Grades a submission: build, run, check, time and score each task, by its groups of cases. What
/// fails costs its group, never another task.
/// @throws UsageError for a task, case or submission that is not there.
GradeResult grade(const PartSpec& part, const GradeRequest& request, const GradeTools& tools);

}  // namespace rooflab
