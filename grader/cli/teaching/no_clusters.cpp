#include "grader/cli/teaching/clusters.h"
#include "grader/pipeline/grade.h"

/// In place of clusters.cpp in a build without them.
namespace rooflab {

void require_clusters(const std::string& what) {
  throw UsageError(what +
                   ": this grader was built without clusters; configure the build with "
                   "-DROOFLAB_CLUSTERS=ON, build again, or leave it out to grade on this machine");
}

std::unique_ptr<Executor> cluster_executor(ClusterRequest request) {
  require_clusters("--executor " + request.executor);
  return nullptr;
}

int run_cluster_task(const std::filesystem::path& /*grader*/, const std::filesystem::path& /*list*/,
                     std::size_t /*index*/) {
  require_clusters("batch-task");
  return 2;
}

}  // namespace rooflab
