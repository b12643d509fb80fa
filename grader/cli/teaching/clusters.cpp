#include "grader/cli/teaching/clusters.h"

#include <cstdint>
#include <utility>

#include "grader/batch/execute/clusters/kubernetes.h"
#include "grader/batch/execute/clusters/slurm_executor.h"
#include "grader/batch/execute/clusters/task_list.h"

namespace rooflab {

void require_clusters(const std::string& /*what*/) {}

std::unique_ptr<Executor> cluster_executor(ClusterRequest request) {
  constexpr std::uint64_t kMemoryMib = 8192;
  if (request.executor == "slurm") {
    return std::make_unique<SlurmExecutor>(
        SlurmOptions{.grader = std::move(request.grader),
                     .folder = request.folder / "slurm",
                     .sbatch_arguments = std::move(request.arguments),
                     .at_most = request.at_most,
                     .cpus = request.cpus,
                     .memory_mib = kMemoryMib,
                     .progress = std::move(request.progress)});
  }
  KubernetesOptions options{.folder = request.folder / "kubernetes",
                            .volume = request.folder,
                            .grader = std::move(request.grader),
                            .at_most = request.at_most,
                            .cpus = request.cpus,
                            .memory_mib = kMemoryMib,
                            .progress = std::move(request.progress)};
  read_kubernetes_arguments(request.arguments, options);
  return std::make_unique<KubernetesExecutor>(std::move(options));
}

int run_cluster_task(const std::filesystem::path& grader, const std::filesystem::path& list,
                     std::size_t index) {
  return run_task(grader, list, index);
}

}  // namespace rooflab
