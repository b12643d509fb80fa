#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/store/store.h"
#include "grader/spec/revealed.h"
#include "grader/spec/seed.h"

/// What batch and worker tell each other, as files in the folder of a job: job.json and sources/
/// one way, result.json the other.
namespace rooflab {

struct JobDescription {
  std::string grading;
  int part = 0;
  std::string device;
  Seed seed;
  std::vector<std::string> students = {};  ///< see GradeRequest::students
  bool sandbox = true;
  std::string causes = "full";  ///< or "quick": see CauseSearch
  unsigned threads = 1;         ///< for builds and for a simulated GPU
};

/// Where the files to be graded lie, in the layout of starter/.
std::filesystem::path sources_of(const std::filesystem::path& folder);

/// Writes job.json last: a folder that has one is complete. @throws FileError
void write_job(const std::filesystem::path& folder, const JobDescription& job,
               const SourceFiles& sources);
/// @throws FileError, or BatchError for a file that is no job
JobDescription read_job(const std::filesystem::path& folder);

/// Appears all at once. The times of the result go beside it, and so do the hidden cases that
/// failed.
/// @param gpu a file of specs/gpus. @throws FileError
void write_result(const std::filesystem::path& folder, GradeResult result, const std::string& gpu,
                  const std::vector<RevealedCase>& revealed = {},
                  const std::map<std::string, std::string>& texts = {},
                  const std::map<std::string, double>& numbers = {});
/// Nothing when there is none yet, or none that can be read: then the job has to run again.
std::optional<GradedResult> read_result(const std::filesystem::path& folder);

}  // namespace rooflab
