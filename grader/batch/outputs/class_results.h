#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/platform.h"
#include "grader/batch/regrade_request.h"
#include "grader/batch/student.h"
#include "grader/spec/result.h"

/// What a batch found out, as plain values: what every output is made from.
namespace rooflab {

/// Points that a person gave, for one question or for anything else in a part.
struct ManualPoints {
  int part = 0;
  std::string item;  ///< "why_memory_bound": a question, or what the instructor calls it
  double points = 0;
  std::optional<double> max_points;
  std::string comment;
  std::string by;                  ///< who gave them
  std::string grading = {};        ///< that counted when they were given; empty: nobody knows
  bool is_before_regrade = false;  ///< beside a grading that is no longer the newest
};

enum class PartState : std::uint8_t {
  graded,
  not_submitted,  ///< nothing of this part was handed in: no points
  undecided,      ///< several were handed in, and a person has to choose: no score until then
  unreadable,     ///< the submission could not be taken in: no points, and somebody should look
  ungraded,       ///< not graded yet, since the batch was interrupted: no score at all
  fault,          ///< the grader failed: no score at all, never a zero
};
const char* name_of(PartState state);

/// One line of a graded task, enough for tables and for the class page.
struct TaskLine {
  std::string id;
  std::string title;
  bool bonus = false;
  Verdict verdict = Verdict::pass;
  double score = 0;
  double max_score = 0;
  std::vector<std::string> codes;             ///< of its diagnostics
  std::vector<std::string> lost_groups = {};  ///< groups of its cases that have no points
  /// What the grader noticed and cannot prove, for instructors alone.
  std::vector<std::string> for_people = {};
  /// Of the first timed case, where there is one that ran.
  std::optional<double> time_us;
  double efficiency = 0;
  double roofline_us = 0;
  double flops = 0;
  double bytes = 0;
  std::string peak;
};

/// The tasks of a result, in its order. Lines are made of results here alone.
std::vector<TaskLine> task_lines(const GradeResult& result);

/// An answer in free text that waits for a person to give points.
struct PendingAnswer {
  std::string item;  ///< the question: "why_memory_bound"
  double max_points = 0;
};

/// One student's outcome in one part.
struct PartOutcome {
  int part = 0;
  PartState state = PartState::not_submitted;
  std::string why;   ///< for undecided, unreadable and fault
  double score = 0;  ///< of the grader: without bonus, before lateness
  double bonus = 0;
  double keeps = 1;      ///< what lateness leaves of score and bonus
  std::string lateness;  ///< "3.2 hours late: 90 % of the points count"; empty when in time
  double manual = 0;     ///< sum of the points given by hand; lateness does not touch them
  /// Answers that nobody has given points for: until then the total is not final.
  std::vector<PendingAnswer> pending;
  /// What `score` and `manual` are out of, as it was graded; nothing where nothing was.
  std::optional<double> max_score;
  std::optional<double> max_manual;
  std::vector<TaskLine> tasks;
  bool tasks_unread = false;  ///< the points are known, and their evidence cannot be read
  std::optional<double> previous_total;  ///< of what `total()` is compared with after a regrade
  bool earlier_counts = false;           ///< the regrade has fewer points, and does not count
  std::string grading;                   ///< name of the grading, for LoadGrading; empty for none
  std::string checkout = {};             ///< see GradeResult
  /// So far: see total_of() of class_words.h.
  double total() const { return (score + bonus) * keeps + manual; }
};

/// What a person wrote about a submission: to one of its lines, to a file, or to all of it.
struct FileComment {
  int part = 0;
  std::string file;        ///< "part1-metrics/gemv.cu"; empty: the whole submission
  std::uint32_t line = 0;  ///< from 1; 0: no line of its own
  std::map<std::uint32_t, std::string> excerpt;  ///< that line and those around it; untrusted
  std::string text;
  std::string by;  ///< who wrote it
};

/// One student with what was handed in.
struct StudentOutcome {
  Student student;
  std::string submission;  ///< its name in the folder, one line of UTF-8; empty for none
  std::optional<std::int64_t> received_at;
  std::vector<std::string> notes;            ///< how the submission was made sense of
  std::vector<std::string> problems;         ///< what somebody should look at: "not on the roster"
  std::vector<std::string> for_people = {};  ///< likewise, for staff alone
  std::vector<PartOutcome> parts;            ///< in the order of ClassResults::parts
  std::vector<ManualPoints> manual;
  std::vector<FileComment> comments = {};     ///< by part, file and line
  std::vector<RegradeRequest> requests = {};  ///< the oldest first
  int slip_days = 0;                          ///< spent so far, before this batch too
  Platform platform = Platform::none;         ///< that delivered the submission
  std::string return_name = {};  ///< see Submission; empty where no feedback can go back
};

/// Its maxima are the largest that anybody's recorded grading has, or the course's where nothing
/// was graded yet.
struct PartSummary {
  int number = 0;
  std::string title;
  double max_score = 0;         ///< without bonus
  double max_manual = 0;        ///< of `text` questions
  double held_back = 0;         ///< beside both: of tests that show and count from `held_until` on
  std::string held_until = {};  ///< "2026-11-20 22:59 UTC"; empty where nothing is held back
};

/// The whole class. Students stand in the roster's order, then those who are not on it by key.
struct ClassResults {
  std::vector<PartSummary> parts;
  std::vector<StudentOutcome> students;
  std::string device;     ///< "sim:a100"
  std::string time_kind;  ///< "modelled"
  std::string gpu;        ///< of the roofline: a file of specs/gpus
  std::string versions;   ///< of grader and toolkit, one line
  std::string graded_at;  ///< "2026-11-22 10:15 UTC"; the only time of day in any output
  std::vector<std::string> problems = {};  ///< of the class as a whole, for its instructor
  int slip_days_each = 0;                  ///< 0: the late policy gives none
};

/// Evidence of one grading, whole; results are large, so they are loaded one at a time.
using LoadGrading = std::function<GradeResult(const std::string& grading)>;

}  // namespace rooflab
