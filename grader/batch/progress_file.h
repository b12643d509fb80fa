#pragma once

#include <filesystem>
#include <string>

#include "grader/batch/listener.h"

/// How far a batch is, for whoever does not see its terminal.
namespace rooflab {

/// In the folder of a batch while one runs; "grading, 12 of 33, about 4 min left".
inline constexpr const char* kProgressFile = "progress.txt";

/// Keeps that file beside what another listener hears. A file that cannot be written stops no
/// batch.
class ProgressFile : public BatchListener {
 public:
  ProgressFile(std::filesystem::path folder, BatchListener& next);
  /// Removes it: the batch has ended.
  ~ProgressFile() override;
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;

  void say(const std::string& line) override { next_.say(line); }
  void progress(const BatchProgress& progress) override;
  bool stop() override { return next_.stop(); }

 private:
  std::filesystem::path file_;
  BatchListener& next_;
};

/// What it says; empty where no batch runs in the folder. One that was killed may have left its
/// file.
std::string progress_in(const std::filesystem::path& folder);

}  // namespace rooflab
