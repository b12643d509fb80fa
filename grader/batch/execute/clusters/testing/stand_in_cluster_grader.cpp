// Takes the grader's place in tests:
//   stand_in_cluster_grader batch-job FOLDER         as stand_in_grader
//   stand_in_cluster_grader batch-task LIST INDEX    as the grader
//   stand_in_cluster_grader slurm DIR [AT_MOST [ARGUMENT ...]]
//       runs the folders of DIR/jobs by Slurm, says how each ended, and ends early at SIGTERM
//   stand_in_cluster_grader manifest [ARGUMENT ...]  prints a Kubernetes manifest for 300 jobs
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/batch/execute/clusters/kubernetes.h"
#include "grader/batch/execute/clusters/slurm_executor.h"
#include "grader/batch/execute/clusters/task_list.h"
#include "grader/batch/execute/testing/stand_in_job.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

std::vector<Job> jobs_in(const fs::path& folder) {
  std::vector<Job> jobs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    jobs.push_back({.name = entry.path().filename(), .folder = entry.path(), .limit_s = 20});
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.name < b.name; });
  return jobs;
}

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

volatile sig_atomic_t end_requested = 0;

int run_by_slurm(const fs::path& self, const fs::path& folder, unsigned at_most,
                 const std::vector<std::string>& arguments) {
  signal(SIGTERM, [](int) { end_requested = 1; });
  SlurmOptions options{.grader = self, .folder = folder / "slurm", .at_most = at_most};
  options.sbatch_arguments = arguments;
  options.memory_mib = 16;
  options.poll = std::chrono::milliseconds(300);
  options.grace = std::chrono::seconds(1);
  options.patience = std::chrono::seconds(30);
  options.progress = [](const std::string& line) { say("- " + line); };
  SlurmExecutor(options).run(
      jobs_in(folder / "jobs"),
      [](const JobEnd& end) {
        say(end.done ? "done " + end.name : "failed " + end.name + ": " + end.why);
      },
      [] { return end_requested != 0; });
  return 0;
}

int print_manifest(const std::vector<std::string>& arguments) {
  KubernetesOptions options{.folder = "/class/kubernetes",
                            .volume = "/class/it's $(HOME) - \"quoted\"",
                            .grader = "/opt/rooflab/build/bin/grader"};
  read_kubernetes_arguments(arguments, options);
  options.at_most = 20;
  fmt::print("{}", kubernetes_manifest(options, "rooflab-01234567",
                                       options.volume / "kubernetes" / "jobs.json", 300, 600));
  return 0;
}

int run(const fs::path& self, const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "batch-job") return run_stand_in_job(words[1]);
  if (words.size() == 3 && words[0] == "batch-task") {
    return run_task(self, words[1], std::stoul(words[2]));
  }
  if (!words.empty() && words[0] == "manifest")
    return print_manifest({words.begin() + 1, words.end()});
  if (words.size() >= 2 && words[0] == "slurm") {
    const unsigned at_most = words.size() > 2 ? static_cast<unsigned>(std::stoul(words[2])) : 0;
    const auto arguments =
        words.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, words.size()));
    return run_by_slurm(self, words[1], at_most, {arguments, words.end()});
  }
  return 2;
}

}  // namespace
}  // namespace rooflab

int main(int argc, char** argv) {
  try {
    return rooflab::run(std::filesystem::read_symlink("/proc/self/exe"), {argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
