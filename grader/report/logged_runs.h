#pragma once

#include <map>
#include <string>
#include <vector>

namespace rooflab {

/// A file of a version as it was then.
struct LoggedFile {
  std::string name;  ///< in the part's folder
  std::string text;
};

/// One run of a kernel, as `grader --log` kept it in worklog_runs.json. That file is the student's,
/// so that all of this may be made up.
struct LoggedRun {
  int version = 0;
  std::string task = {};    ///< whose kernel it is
  std::string device = {};  ///< "sim:a100"
  std::string timed = {};   ///< name of the first timed case, of which the rest is
  double time_us = 0;
  double efficiency = 0;
  std::string limiter = {};  ///< in words; empty where the device tells no reasons
  std::map<std::string, double> measures = {};  ///< by full names
  std::map<std::string, double> counters = {};  ///< by names of Nsight Compute
  std::vector<LoggedFile> files = {};           ///< the task's own first
};

/// Names and texts of a version's files as 16 hexadecimal digits: which versions are the same. It
/// proves nothing, for whoever writes the file can write another.
std::string hash_of(const std::vector<LoggedFile>& files);

/// The most bytes that the files of one version may have together.
inline constexpr std::size_t kLargestVersion = std::size_t{64} << 10;

/// The runs of a student's file, by version. What is no such run, or beyond kMostVersions, is left
/// out: a file that is too large, too deep or no JSON holds none.
std::vector<LoggedRun> logged_runs_in(const std::string& text);

/// That file's text.
std::string logged_runs_text(const std::vector<LoggedRun>& runs);

}  // namespace rooflab
