#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "grader/spec/answers.h"
#include "grader/spec/part.h"

/// The work log of one kernel, as its student writes it: docs/design/work-log.md.
namespace rooflab {

/// The runs that belong to a log, as `grader --log` kept them. The file lies beside the part's
/// other files of a submission, so that what is handed in carries it; git ignores it in starter/.
inline constexpr const char* kLoggedRunsFile = "worklog_runs.json";

/// A work log shows how a kernel came about: fewer versions show no way.
inline constexpr int kVersionsAskedFor = 4;
inline constexpr std::size_t kMostVersions = 12;
inline constexpr int kLastVersion = 99;

/// What a student writes about one version: hypothesis_2, counter_2 and result_2 of the file.
/// Untrusted text; what is left out or left open is empty.
struct WorkLogEntry {
  int version = 0;
  std::string hypothesis = {};  ///< what the change should bring, written before the run
  std::string counter = {};     ///< what should move: "bank conflicts", or a name of Nsight Compute
  std::string result = {};      ///< what came of it
};

/// A student's file, line by line as answers.toml (read_answers).
struct WorkLogText {
  std::vector<WorkLogEntry> entries;    ///< by version; those that have at least one text
  std::vector<AnswerProblem> problems;  ///< lines that could not be read, by line
};

/// @param text of the student's file, which may be anything
WorkLogText read_work_log(const std::string& text);

/// The entry of a version; an empty one where there is none.
WorkLogEntry entry_of(const WorkLogText& log, int version);

/// The file's text with an entry for one more version at its end, to be filled in.
std::string with_entry(const std::string& text, int version, const std::string& hypothesis);

/// The part's work log; nullptr where it asks for none.
const TaskSpec* work_log_task(const PartSpec& part);

/// Whether a work log of the part may be about this task: a kernel that is timed.
bool may_be_logged(const TaskSpec& task);

}  // namespace rooflab
