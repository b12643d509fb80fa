#pragma once

#include <chrono>
#include <string>

#include "grader/batch/listener.h"
#include "grader/cli/progress_line.h"

namespace rooflab {

/// Tells the terminal of a batch: a bar that is overwritten, above it what somebody should know.
/// Where there is no terminal, a line a minute says how far the batch is. While it lives, Ctrl-C
/// and SIGTERM make the batch stop when it can; a second Ctrl-C ends it at once.
class ClassProgress : public BatchListener {
 public:
  ClassProgress();
  ~ClassProgress() override;

  void say(const std::string& line) override;
  void progress(const BatchProgress& progress) override;
  bool stop() override;
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;

  ProgressLine line_;
  std::string last_;
  Clock::time_point told_ = Clock::now();
};

}  // namespace rooflab
