#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "grader/batch/execute/executor.h"

namespace rooflab {

struct LocalOptions {
  std::filesystem::path grader;  ///< build/bin/grader; absolute
  unsigned jobs = 0;             ///< workers at a time; 0: one per CPU
};

/// Runs jobs on this machine, each in a process of its own.
class LocalExecutor : public Executor {
 public:
  explicit LocalExecutor(LocalOptions options);
  void run(const std::vector<Job>& jobs, const std::function<void(const JobEnd&)>& ended,
           const std::function<bool()>& idle) override;

 private:
  LocalOptions options_;
};

}  // namespace rooflab
