#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/spec/draws.h"
#include "grader/spec/ladder.h"
#include "grader/spec/targets.h"
#include "simgpu/codes/code.h"

namespace rooflab {

/// A part.toml, answers file or submission that cannot be used: file, line, and what to do.
class SpecError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A part number that no folder has: the user's slip, not the installation's.
class UnknownPart : public SpecError {
 public:
  using SpecError::SpecError;
};

/// Cases that have their points together: all of them when every case is right.
struct GroupSpec {
  std::string name;   ///< "edges"
  std::string title;  ///< what its cases have in common; may be empty
  double points = 0;
  std::vector<std::string> hints = {};  ///< of its own, three or none: as those of a task
  /// Of mistakes that a student's tests should catch: what to ask whoever lets one pass.
  std::string question = {};
};

struct CaseSpec {
  std::string name;
  Values parameters;
  Values expect;              ///< `values` tasks: the right results, as numbers
  bool hidden = false;        ///< from solutions/<part>/hidden.toml
  bool sampled = false;       ///< see RunRequest::sampled
  bool shows_memory = false;  ///< the report says how much device memory the call took
  bool late_inputs = false;   ///< see RunRequest::late_inputs
  double vast_gb = 0;         ///< of a vast problem: GB of all tensors, which the GPU must have
  std::string peak = {};      ///< a GPU without this peak leaves the case out; empty: none does
  std::string group = {};     ///< name of its group
};

/// Whether a GPU of so much memory can hold the case's tensors, where it says how large they are.
inline bool has_room(const CaseSpec& spec, std::int64_t dram_bytes) {
  constexpr double kBytesPerGb = 1e9;
  return static_cast<double>(dram_bytes) >= spec.vast_gb * kBytesPerGb;
}

/// A value that is off by a known factor has a known cause: "half: a multiply-add counts as two
/// FLOPs".
struct RatioHint {
  std::string result;  ///< name of the result
  double ratio = 0;    ///< got / expected
  std::string cause;
};

/// Points for taking little of something that the device counts: all at `full` or below, none at
/// `zero` or above.
struct CountTarget {
  double points = 0;
  double full = 0;
  double zero = 0;
};

/// A timed case. Without any points its time is shown and has no targets.
struct SpeedSpec {
  std::string name;   ///< short: "1024^3"
  double points = 0;  ///< for the time
  Values parameters;
  double zero_efficiency = 0;  ///< no points at or below
  double full_efficiency = 0;  ///< all points at or above
  /// What was found on GPUs: the two above hold where there is nothing of a GPU, nor of its kind.
  std::vector<Reached> reached = {};
  bool is_for_answer = false;  ///< on this GPU a right answer has the points, whatever its time
  std::string peak = "fp32";   ///< the roof of the report's plot: a key of GpuSpec::peak_flops
  bool sampled = false;        ///< see RunRequest::sampled
  bool shows_memory = false;   ///< the report says how much device memory the call took
  std::optional<CountTarget> launches;   ///< in launches of the host
  std::optional<CountTarget> bytes;      ///< in multiples of the compulsory bytes, across DRAM
  std::vector<std::string> groups = {};  ///< that its points need, and that it is a case of
};

enum class TaskKind : std::uint8_t {
  kernel,   ///< tensors in, tensors out, on the device
  values,   ///< named results of host functions
  answers,  ///< answers.toml, no code
  worklog,  ///< worklog.toml, about the versions of another task's kernel: no code of its own
  tests,    ///< cases of the student's own, by which right implementations and wrong ones are told
            ///< apart
};

enum class QuestionKind : std::uint8_t { number, choice, text };

/// One question of an `answers` task.
struct QuestionSpec {
  std::string id;
  QuestionKind kind = QuestionKind::number;
  std::string prompt;                ///< of a loaded part with the page's own numbers
  std::vector<std::string> choices;  ///< "a" is the first
  double points = 0;                 ///< of `text`: given by hand, not part of the task's maximum
  bool bonus = false;                ///< of `text`: its points are beside the part's maximum, too
  std::vector<Draw> draws = {};      ///< numbers that differ from student to student
  std::string pattern = {};          ///< where it draws, the prompt with "{n}" for the number n
};

/// What a parameter of a student's case may be, both ends included. Both have one type, integer or
/// real.
struct Bounds {
  Value low;
  Value high;
};

/// What a case of a student's tests may be (`tests` tasks).
struct TestedSpec {
  int most_cases = 0;
  /// Of all arrays of all cases together: the work that a student's tests may ask for.
  std::int64_t most_elements = 0;
  Values fixed;                          ///< parameters of every case
  std::map<std::string, Bounds> chosen;  ///< those that a case gives
};

struct TaskSpec {
  std::string id;
  std::string title;
  TaskKind kind = TaskKind::kernel;
  bool bonus = false;
  double points = 0;              ///< for right answers: its groups' together
  std::string file;               ///< the student's, relative to the part's directory
  std::vector<std::string> uses;  ///< further files of the student's, linked with `file`
  std::string entry;              ///< the adapter, labs/<part>/guest/<entry>.cpp
  bool stream = false;            ///< its functions get a stream: RunRequest::gives_stream
  /// What the grader finds first in the starter, where that is wrong on purpose and no TODO.
  std::optional<simgpu::Code> starter_finds;
  std::string oracle;                  ///< registered name, empty when cases hold their results
  std::vector<std::string> forbidden;  ///< symbols (regular expressions) the object may not import
  /// Of labs/toolkit, headers ("timing.h") and folders ("eager") that answer what the task asks.
  std::vector<std::string> withheld;
  /// Of CUDA: "cublas" and "nvrtc" are linked, "cupti" may be loaded at run time.
  std::vector<std::string> libraries;
  std::vector<std::string> hints;  ///< three, from a question to a near-answer
  /// A hint for each of some mistakes, which comes before those.
  std::map<simgpu::Code, std::string> mistake_hints = {};
  std::vector<GroupSpec> groups;  ///< in the order of every report; a loaded task has at least one
  std::vector<CaseSpec> cases;
  int hidden_elsewhere = 0;  ///< cases that the class's grading has, and this copy does not
  std::vector<RatioHint> ratios;
  /// By tensor: names of its axes, outermost first, for messages: "token", "channel".
  std::map<std::string, std::vector<std::string>> axes = {};
  std::vector<QuestionSpec> questions;  ///< `answers` tasks
  TestedSpec tested = {};               ///< `tests` tasks
  double hand_points = 0;  ///< `worklog` tasks: given by hand, not part of the task's maximum
  std::vector<SpeedSpec> speeds;  ///< timed cases, in the order of every report
  double time_limit_s = 60;       ///< per case
  double host_time_limit_s = 10;  ///< of the host's code alone, where the GPU is simulated
};

/// Whether a task is a text for the grader and for people: nothing of it is built or run.
inline bool is_text(const TaskSpec& task) {
  return task.kind == TaskKind::answers || task.kind == TaskKind::worklog;
}

/// What people give points for in a task: its questions of free text, or the work log as a whole,
/// which goes by the task's id.
std::vector<QuestionSpec> questions_for_people(const TaskSpec& task);

/// Parts have the numbers 0 to 999.
inline constexpr int kLastPart = 999;

struct PartSpec {
  int number = 0;
  std::string title;
  std::string directory;       ///< "part1-metrics"
  std::filesystem::path root;  ///< labs/<directory>
  /// Of the student's: what each file of the part may include, "common.cuh".
  std::vector<std::string> headers = {};
  std::vector<TaskSpec> tasks;
  std::vector<Ladder> ladders = {};
};

/// Of a part's folder in a student kit: how many hidden cases the class's grading has for each
/// task.
inline constexpr const char* kHiddenCounts = "hidden_counts.toml";

/// That file, of a part that was loaded with its hidden cases.
std::string hidden_counts_of(const PartSpec& part);

/// The files of a part that a submission may hold, each once, in the order of the tasks.
std::vector<std::string> submitted_files(const PartSpec& part);

/// The most points that a timed case can give: for its time, its launches and its bytes.
double maximum_points(const SpeedSpec& speed);
/// The most points that a task can give: its own and those of its timed cases.
double maximum_points(const TaskSpec& task);

/// The task as a student is asked it: prompts have their numbers, and groups their prompts.
/// @param student as student_id() gives it; empty: the page's own numbers
TaskSpec asked_of(const TaskSpec& task, int part, const std::string& student);

/// Whether some question of the task asks different students for different numbers.
bool draws_numbers(const TaskSpec& task);

/// Reads the part.toml of a part's folder, and its hidden cases or how many of them there are, as
/// load_part() does.
PartSpec read_part_folder(const std::filesystem::path& folder,
                          const std::filesystem::path& solutions);

/// Reads labs/<part>/part.toml, and solutions/<part>/hidden.toml beside the solutions when it is
/// there; else how many cases it has, where a kit says so.
/// @throws SpecError naming file, line and remedy; an unknown number names the parts there are.
PartSpec load_part(const std::filesystem::path& labs, const std::filesystem::path& solutions,
                   int number);
/// All parts, by their numbers. @throws SpecError of the first that cannot be read
std::vector<PartSpec> load_parts(const std::filesystem::path& labs,
                                 const std::filesystem::path& solutions);
/// Numbers of the parts in `labs`, ascending; a folder is a part when it holds a part.toml.
/// @throws SpecError when two folders claim one number.
std::vector<int> list_parts(const std::filesystem::path& labs);

}  // namespace rooflab
