#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/spec/gpu_user.h"
#include "grader/spec/ladder.h"
#include "grader/spec/line_cost.h"
#include "grader/spec/seed.h"
#include "simgpu/codes/code.h"
#include "simgpu/time_band.h"

/// The outcome of a grade as plain values: what the terminal, JSON and HTML reports are made from.
namespace rooflab {

enum class Verdict : std::uint8_t {
  pass,
  wrong_answer,
  compile_error,
  runtime_error,
  race,
  time_limit,
  memory_limit,
  output_limit,
  disk_limit,
  not_implemented,
  rejected,
  suspect,
  not_applicable,  ///< this GPU cannot run the task: it is out of no points
  grader_fault,
};
/// The JSON spelling, "wrong-answer".
const char* name_of(Verdict verdict);
/// The verdict of that spelling; nothing when there is none.
std::optional<Verdict> verdict_of(std::string_view name);

/// Whether `one` is the verdict of a whole that holds both. From the worst: a fault of the grader;
/// what ends a task for all of its groups (rejected, compile-error); what stopped a run (an error,
/// a limit of memory, output or disk); a race, which makes any other failure; a time limit; a wrong
/// answer; a stub; a suspect; a pass; what the GPU cannot run.
bool is_worse(Verdict one, Verdict other);

/// A labelled place in the student's source; `excerpt` is that line's text.
struct Label {
  std::string file;  ///< relative to the submission
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0;  ///< of the underline, 0 for one character
  std::string excerpt;
  std::string text;  ///< "thread (0,0), warp 0, stores …"
};

/// The story of one failure: cause, place, evidence, error pattern, replay, next step.
struct Diagnostic {
  simgpu::Code code;
  std::string message;  ///< the cause, one sentence
  std::string file;     ///< primary place, relative to the submission; empty when unknown
  std::uint32_t line = 0;
  std::string context;                   ///< "kernel gemm_tiled, block (0,0)"
  std::vector<std::string> groups = {};  ///< of cases that fail by it; empty where the task has one
  std::vector<Label> labels;             ///< primary first
  std::vector<std::string> evidence;     ///< "3584 of 4096 outputs differ …", one line each
  std::vector<std::string> pattern;      ///< rows of a small map of right and wrong elements
  std::vector<std::string> notes;
  std::string help;  ///< the next step, one sentence
  std::vector<std::pair<std::string, std::string>>
      commands;  ///< {"next hint", "grader --part 1 …"}
  /// Parameters of a smaller problem that fails in the same way, where one is known. Reports have
  /// it as one of the notes.
  Values smaller = {};
};

struct CaseResult {
  std::string name;
  Verdict verdict = Verdict::pass;
  bool hidden = false;
  std::string group = {};  ///< of a timed case the first of those that it stands on
  /// The most bytes of device memory that the call held beside the case's own tensors, where that
  /// is to be shown and the device knows it.
  std::optional<std::uint64_t> peak_memory = {};
};

/// What a group of cases came to: all of its points, or none; of a group of wrong implementations
/// the share that tests catch.
struct GroupResult {
  std::string name;   ///< "edges"
  std::string title;  ///< "sizes that are no multiple of the tile"; may be empty
  Verdict verdict = Verdict::pass;
  double score = 0;  ///< an exact share: only the task's score is rounded
  double max_score = 0;
};

/// What a timed call took of something that the device counts, and the points for it.
struct Counted {
  std::optional<double> count;  ///< nothing where the device keeps no records
  double full = 0;              ///< all points at or below; 0 where it earns none
  double points = 0;
  double max_points = 0;
};

/// What bounds a timed call, and what it would bring to be rid of it. All of it is modelled.
struct Limit {
  std::string what;       ///< in words: "shared memory"; empty where the device tells no reasons
  std::string kernel;     ///< the one that takes most of the call; empty when that is launches
  double cost_us = 0;     ///< of the call's time that the limiter accounts for
  double without_us = 0;  ///< the call's time if it fell to its least, and all else stayed
  bool least = false;     ///< it is at its least: the case asks for all of it
  std::string next;       ///< what would bound the kernel then, in words; may be empty
  std::string change;     ///< what usually helps
  std::string counter;    ///< that proves it, by the name that NVIDIA's profilers give it
  double counter_value = 0;
  std::string proof;  ///< what that counter says, a clause: "2 loads for each multiply-add"
};

/// How a measured time was taken. docs/design/measuring.md
struct Measured {
  int samples = 0;    ///< that count
  double low_us = 0;  ///< the time lies between these two with 95 % confidence
  double high_us = 0;
  int dropped = 0;       ///< samples taken while the GPU was throttled by heat or a fault
  int contradicted = 0;  ///< samples whose events disagreed with our clock, which counts then
  bool clocks_watched = false;  ///< else nobody knows whether the GPU was throttled
  double clock_mhz = 0;         ///< median of the samples; 0: not known
  int slow_clock = 0;           ///< samples dropped since their clock was clearly below the others'
  int busy_before = 0;          ///< samples before which the GPU was busy with what is not ours
  int not_still = 0;            ///< samples before which the code ran although it was stopped
  int beside_others = 0;        ///< samples while another process computed on the GPU
  int disturbed = 0;  ///< of those that count: in one of the three ways, for want of better ones
  bool users_known = false;  ///< else processes that cannot be seen from here may use the GPU
  std::vector<GpuUser> other_users = {};  ///< seen before or after the samples
};

struct Timing {
  double time_us = 0;    ///< of measured ones the median of the samples
  double spread_us = 0;  ///< half the distance of the samples' quartiles; measured times only
  double roofline_us = 0;
  double floor_us = 0;    ///< below it a time cannot be real: docs/design/targets.md
  double efficiency = 0;  ///< roofline_us / time_us
  double zero_efficiency = 0;
  double target_efficiency = 0;         ///< full points; 0 where speed earns none
  std::string bound;                    ///< "memory", "compute", "launch": of the roofline
  double flops = 0;                     ///< of the case
  double bytes = 0;                     ///< compulsory
  std::string peak;                     ///< key of GpuSpec::peak_flops
  std::string limiter;                  ///< of the time model: what bounds this implementation
  std::map<std::string, double> terms;  ///< its terms in us
  std::string advice;                   ///< `limit` in a few sentences
  Limit limit;                          ///< of this implementation
  std::string name;                     ///< of the timed case: "1024^3"
  bool sampled = false;                 ///< predicted from a part of the blocks
  bool at_least = false;                ///< too slow to be timed in full: time_us is a lower bound
  double points = 0;                    ///< for the time alone
  double max_points = 0;
  Counted launches;                          ///< of the host; a graph is one
  Counted dram_bytes;                        ///< read and written, by kernels and copies
  std::uint64_t kernels = 0;                 ///< that ran, those of graphs included
  std::optional<std::uint64_t> peak_memory;  ///< see CaseResult::peak_memory
  std::optional<Measured> measured;          ///< nothing of a modelled time
  /// How far a modelled time may be from hardware's; nothing of a measured one, of a lower bound,
  /// and where no kernel ran.
  std::optional<simgpu::TimeBand> modelled;
  SourceCosts costs;  ///< of a task's first timing; evidence has few lines
};

/// Hints of a task that the student was shown.
struct HintUse {
  /// Those for one of the task's functions or questions.
  struct OfGroup {
    std::string name;
    int shown = 0;
    int of = 0;
  };
  int shown = 0;                     ///< of those for the task as a whole
  int of = 0;                        ///< that there are
  double points = 0;                 ///< taken from the score for them; 0 unless the course says so
  std::vector<OfGroup> groups = {};  ///< that have hints of their own
};

/// A counter, or what is made of several, that differs from the last run.
struct CounterChange {
  std::string name;    ///< "DRAM bytes"
  std::string before;  ///< with its unit: "4.2x", "31 %"
  std::string after;
  std::string unit;     ///< what both are of: "of the compulsory ones"; may be empty
  std::string meaning;  ///< why it matters, one sentence
};

/// What differs from the student's last run of a task.
struct SinceLastRun {
  Verdict verdict = Verdict::pass;  ///< of the last run
  double score = 0;
  std::vector<std::string> won = {};   ///< groups that pass now and did not
  std::vector<std::string> lost = {};  ///< groups that passed and do not now
  std::string timed;                   ///< the timed case that both have, as are the next two
  std::optional<double> time_us;       ///< of the last run
  std::optional<double> now_us;
  bool time_at_least = false;  ///< then the time was longer than that
  bool now_at_least = false;
  std::vector<CounterChange> counters;  ///< those that moved most, most first
};

/// One version of the kernel that a work log is about. Where it was graded again, the figures are
/// the grader's own; else they are what the student's file says.
struct LoggedVersion {
  int version = 0;
  std::string hypothesis = {};  ///< in the student's words, as are the next two; untrusted
  std::string counter = {};     ///< that should move
  std::string result = {};
  bool has_run = false;     ///< of one without, nothing below is known
  std::string hash = {};    ///< of its files: two versions with one hash are the same
  std::string device = {};  ///< that it was logged on: "sim:a100"
  std::string timed = {};   ///< the timed case
  double time_us = 0;
  double efficiency = 0;
  std::string limiter = {};  ///< in words; may be empty
  std::string counter_before =
      {};  ///< of the version before, with its unit; empty where there is none
  std::string counter_now = {};
  bool is_compared = false;  ///< both are known
  bool has_moved = false;    ///< meaningful where they are
  bool is_graded_again = false;
  std::string differs = {};  ///< how the student's file differs from that, a clause; mostly empty
};

/// How a kernel came about, version by version.
struct WorkLog {
  std::string kernel;  ///< the task that it is about
  std::vector<LoggedVersion> versions;
};

/// What became of a question of `answers` that a machine judges.
struct AnswerResult {
  std::string question;
  Verdict verdict = Verdict::pass;  ///< not_implemented: it has no answer
  std::string given = {};           ///< "2048", "b: …"; empty where nothing was read; untrusted
  bool is_other_unit = false;       ///< a wrong number that is right in another unit
  std::string cause = {};           ///< of a wrong number, where the key knows it: a clause
};

/// A run of a task that a student noted: docs/design/journal.md. Figures are what the file says.
struct JournalRun {
  std::int64_t time = 0;  ///< seconds since 1970, of a whole minute
  std::string task;
  Verdict verdict = Verdict::pass;
  double score = 0;
  double max_score = 0;
  int hints = 0;  ///< shown by then, for the task and its functions or questions
  std::vector<simgpu::Code> codes = {};
};

/// The runs of a part's tasks, the earliest first, each task's up to the first that passed.
struct Journal {
  std::vector<JournalRun> runs;
};

/// What the cases of a student's tests refuse. A mark for each implementation of a group that is
/// not hidden, in their order: 'x' where it is refused, '.' where it passes.
struct TestsTable {
  struct Group {
    std::string name;           ///< "edges"; kRightGroup of those that are right
    std::string title;          ///< may be empty
    std::string marks;          ///< of all cases; of a mistake by those that fail no right one
    std::string question = {};  ///< where some of its mistakes pass
  };
  struct Case {
    std::string name;                     ///< untrusted
    std::string sizes;                    ///< "k = 33, m = 17, n = 5"
    std::vector<std::string> marks = {};  ///< by group
    int hidden = 0;                       ///< hidden mistakes that it refuses
  };
  std::vector<Group> groups;
  std::vector<Case> cases;
  int hidden = 0;  ///< hidden mistakes that there are
  int hidden_caught = 0;
};

struct TaskResult {
  std::string id;
  std::string title;
  bool bonus = false;
  Verdict verdict = Verdict::pass;
  double score = 0;
  double max_score = 0;
  std::vector<GroupResult> groups;  ///< in the order of part.toml
  std::vector<CaseResult> cases;
  std::vector<Timing>
      timings;  ///< of the timed cases, in order; a report's summary shows the first
  /// Files that the trusted side has rendered from what the student's code returned, by name.
  std::map<std::string, std::string> artifacts;
  std::vector<Diagnostic> diagnostics;
  std::vector<AnswerResult> answers = {};  ///< where a key judged them, in the order of part.toml
  /// What the trusted side noticed and cannot prove, for instructors alone: it costs no points.
  std::vector<std::string> for_people;
  std::map<std::string, double> counters;  ///< of the timed call, Nsight names
  /// Of `max_score`, what is graded after the hand-in only: this copy of the course has no key.
  double graded_later = 0;
  /// Further cases that the class's grading has, and this copy of the course does not.
  int hidden_cases = 0;
  std::string summary;  ///< one line for the terminal when there is no timing
  std::string printed;  ///< what the student's code printed, capped; untrusted
  HintUse hints;
  std::optional<WorkLog> work_log;  ///< of a task of that kind, where there is one
  std::optional<TestsTable> tests;  ///< of a task of that kind, where its cases could be run
  /// Only where something changed since a run that is known; a batch knows none.
  std::optional<SinceLastRun> since_last_run;
};

struct GradeResult {
  int part = 0;
  std::string title;
  std::string device;                ///< "sim:a100"
  std::string device_name;           ///< "simulated A100 40 GB PCIe"
  std::string time_kind;             ///< "modelled" or "measured"
  std::string peaks = "data sheet";  ///< that rooflines go by; or "calibrated on this GPU, <date>"
  Seed seed;
  std::string submission;
  std::vector<std::string> sandbox;  ///< active layers
  std::vector<TaskResult> tasks;
  std::vector<Ladder> ladders = {};  ///< of the part
  /// The course, with its version and its kit: "Efficient AI, version week 5, kit 3f2a9c1b7d40";
  /// may be empty.
  std::string course = {};
  /// Which state of the course replays the grade: the commit of its checkout, with ", changed"
  /// where tracked files differed from it. Empty where nobody knew.
  std::string checkout = {};
  std::optional<Journal> journal = {};  ///< of a class's grading, where the student shares one
  double build_s = 0;
  double run_s = 0;
  double score() const;  ///< without bonus
  double max_score() const;
  double bonus() const;
  double max_bonus() const;
  double graded_later() const;  ///< of max_score()
  int hidden_cases() const;
};

}  // namespace rooflab
