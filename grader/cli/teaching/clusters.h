#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grader/batch/execute/executor.h"

/// What a batch needs of clusters. A build without them (ROOFLAB_CLUSTERS) has all of it too, and
/// refuses.
namespace rooflab {

/// @param what was asked for: "--executor slurm"
/// @throws UsageError where this build has no clusters
void require_clusters(const std::string& what);

struct ClusterRequest {
  std::string executor;                              ///< "slurm", "kubernetes"
  std::vector<std::string> arguments;                ///< --executor-argument
  std::filesystem::path grader;                      ///< the same program on every node
  std::filesystem::path folder;                      ///< DIR of the batch
  unsigned at_most = 0;                              ///< gradings at a time; 0 for no limit
  unsigned cpus = 1;                                 ///< of each
  std::function<void(const std::string&)> progress;  ///< one line of what goes on
};

/// @throws UsageError, ExecutorError
std::unique_ptr<Executor> cluster_executor(ClusterRequest request);

/// What a task on a node does: see run_task().
int run_cluster_task(const std::filesystem::path& grader, const std::filesystem::path& list,
                     std::size_t index);

}  // namespace rooflab
