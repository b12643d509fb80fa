#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// A number for the files of each task.
using TaskHashes = std::map<std::string, std::uint64_t>;

/// The last run of each task of a submission, kept in the user's cache for what comes after: one
/// file for each part and device. A file that is damaged, or of another submission or version of
/// the grader, counts as none and is replaced.
class KeptRuns {
 public:
  /// @param cache of the installation
  KeptRuns(const std::filesystem::path& cache, const std::filesystem::path& submission);

  /// The last run of each task on a device, as one result; nothing when none is known.
  std::optional<GradeResult> last(int part, const std::string& device) const;

  /// That of the device on which the part was graded last.
  std::optional<GradeResult> latest(int part) const;

  /// Keeps what is new of a result, and what was known of its other tasks. What the grader itself
  /// failed at is no run. A cache that cannot be written to keeps nothing.
  /// @param hashes of the files of each task
  void keep(const PartSpec& part, const GradeResult& result, const TaskHashes& hashes) const;

  /// What the files of each task were at its last run.
  TaskHashes hashes(int part, const std::string& device) const;

 private:
  std::filesystem::path file(int part, const std::string& device) const;
  std::filesystem::path hash_file(int part, const std::string& device) const;
  std::optional<GradeResult> read(const std::filesystem::path& file) const;
  void prune() const;

  std::filesystem::path runs_;
  std::string submission_;  ///< its real path
  std::filesystem::path folder_;
};

/// Adds to each task of a result what differs from its last run.
void add_comparison(const KeptRuns& runs, GradeResult& result);

}  // namespace rooflab
