#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/report/logged_runs.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"
#include "grader/spec/work_log.h"

namespace rooflab {

/// A run on its way into the student's work log: `grader --task gemv --log "what I expect"`.
class VersionLog {
 public:
  /// Looks before anything runs.
  /// @param hypothesis of the command line; may be empty where the file has it already
  /// @throws UsageError where the part has no work log, the task cannot be in it, nothing is
  /// expected, nothing has changed since a version that is logged, or the log is full
  VersionLog(const PartSpec& part, const std::string& task, const std::filesystem::path& submission,
             const std::string& hypothesis);

  /// Keeps what the run came to, if it is worth a version. @return what to say, some lines
  /// @throws FileError
  std::string keep(const GradeResult& result);

 private:
  std::vector<LoggedFile> read_files() const;
  void refuse_what_is_logged() const;
  void make_room();
  std::string why_not(const TaskResult& task) const;
  std::string told(const LoggedRun& run) const;

  const PartSpec& part_;
  const TaskSpec& task_;
  std::filesystem::path folder_;
  std::filesystem::path log_file_;
  std::string hypothesis_;
  std::string written_;  ///< the log's text
  WorkLogText log_;
  std::vector<LoggedRun> runs_;
  std::vector<LoggedFile> files_;  ///< as they were before the run
  int version_ = 1;
};

}  // namespace rooflab
