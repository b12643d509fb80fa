#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "grader/batch/execute/executor.h"

namespace rooflab {

struct KubernetesOptions {
  std::filesystem::path folder;  ///< DIR/kubernetes: where manifests and lists of jobs are written
  std::filesystem::path volume;  ///< DIR: where the claim is mounted, in pods as here
  std::filesystem::path grader;  ///< in the image
  std::string image = {};        ///< with grader, nvcc and g++ in it
  std::string claim = {};        ///< PersistentVolumeClaim that holds DIR
  std::string sub_path = {};     ///< where DIR is in it; empty: the whole volume is DIR
  std::string name_space = {};   ///< empty: kubectl's own
  unsigned at_most = 0;          ///< pods at a time; 0 for as many as there are jobs
  unsigned cpus = 2;             ///< of each pod
  std::uint64_t memory_mib = 4096;   ///< of each pod
  std::uint64_t scratch_mib = 8192;  ///< of /tmp in each pod
  unsigned gpus = 0;                 ///< of each pod
  unsigned user = 1000;              ///< whom the pods run as, and who may write to the volume
  unsigned attempts = 3;             ///< of each job

  std::chrono::duration<double> poll{5};                  ///< between two looks for results
  std::function<void(const std::string&)> progress = {};  ///< one line of what goes on
};

/// Fills in what an instructor says of a cluster: "--image=…", "--claim=…", "--sub-path=…",
/// "--grader=…", "--namespace=…", "--cpus=…", "--memory-mib=…", "--scratch-mib=…", "--gpus=…",
/// "--user=…".
/// @throws ExecutorError naming the argument that is not one of these, or that is missing
void read_kubernetes_arguments(const std::vector<std::string>& arguments,
                               KubernetesOptions& options);

/// The manifest of an indexed Job that runs the tasks of a list, as YAML.
/// @param name of the Job; a label as DNS has them
/// @param list of task_list.h, as pods see it
/// @param longest_s limit of the longest job; 0 for none
/// @throws ExecutorError for a folder that Kubernetes cannot mount
std::string kubernetes_manifest(const KubernetesOptions& options, const std::string& name,
                                const std::filesystem::path& list, std::size_t tasks,
                                double longest_s);

/// Writes a manifest for kubectl, says where, and waits for the results to come. It talks to no
/// cluster itself: an early end leaves the pods running, and the next run waits for the same
/// manifest where that has all the jobs that are left.
class KubernetesExecutor : public Executor {
 public:
  explicit KubernetesExecutor(KubernetesOptions options);
  void run(const std::vector<Job>& jobs, const std::function<void(const JobEnd&)>& ended,
           const std::function<bool()>& idle) override;

 private:
  KubernetesOptions options_;
};

}  // namespace rooflab
