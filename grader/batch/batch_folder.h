#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "grader/posix/descriptor.h"

namespace rooflab {

/// A batch that cannot be begun or gone on with as it was asked for: one line, with the next step
/// in it.
class BatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The folder of a batch (--out), held by one process at a time.
class BatchFolder {
 public:
  /// Makes the folder if need be and locks it; the lock goes with the process, however that ends.
  /// @throws BatchError when another process has it, or it cannot be written to
  explicit BatchFolder(const std::filesystem::path& path);

  std::filesystem::path path() const { return path_; }
  std::filesystem::path database() const { return path_ / "batch.sqlite"; }
  /// Of one grading, while it is under way.
  std::filesystem::path job(const std::string& grading) const { return path_ / "work" / grading; }
  /// Removes the folders of all jobs: every result is in the database.
  void remove_jobs() const;

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

/// Whether some process holds the folder of a batch; false where there is none.
bool is_at_work(const std::filesystem::path& folder);

}  // namespace rooflab
