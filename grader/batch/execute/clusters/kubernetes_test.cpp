#include "grader/batch/execute/clusters/kubernetes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include <fstream>

#include "grader/batch/execute/clusters/task_list.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

KubernetesOptions options_in(const fs::path& batch) {
  KubernetesOptions options{
      .folder = batch / "kubernetes", .volume = batch, .grader = "/opt/grader"};
  options.image = "registry/rooflab:1";
  options.claim = "class";
  options.poll = 10ms;
  return options;
}

TEST(KubernetesManifestTest, RunsOneTaskOfTheListPerIndex) {
  KubernetesOptions options = options_in("/class");
  options.at_most = 20;
  options.gpus = 1;
  const YAML::Node job = YAML::Load(
      kubernetes_manifest(options, "rooflab-1", "/class/kubernetes/rooflab-1/jobs.json", 30, 600));
  const YAML::Node spec = job["spec"];
  EXPECT_EQ(job["kind"].as<std::string>(), "Job");
  EXPECT_EQ(spec["completionMode"].as<std::string>(), "Indexed");
  EXPECT_EQ(spec["completions"].as<int>(), 30);
  EXPECT_EQ(spec["parallelism"].as<int>(), 20);
  EXPECT_EQ(spec["backoffLimitPerIndex"].as<int>(), 2);
  const YAML::Node pod = spec["template"]["spec"];
  EXPECT_EQ(pod["restartPolicy"].as<std::string>(), "Never");
  EXPECT_EQ(pod["activeDeadlineSeconds"].as<int>(), 900);
  EXPECT_TRUE(pod["securityContext"]["runAsNonRoot"].as<bool>());
  EXPECT_FALSE(pod["automountServiceAccountToken"].as<bool>());
  EXPECT_EQ(pod["volumes"][0]["persistentVolumeClaim"]["claimName"].as<std::string>(), "class");
  const YAML::Node container = pod["containers"][0];
  EXPECT_EQ(container["volumeMounts"][0]["mountPath"].as<std::string>(), "/class");
  EXPECT_EQ(container["command"][0].as<std::string>(), "/opt/grader");
  EXPECT_EQ(container["args"].as<std::vector<std::string>>(),
            (std::vector<std::string>{"batch-task", "/class/kubernetes/rooflab-1/jobs.json",
                                      "$(JOB_COMPLETION_INDEX)"}));
  EXPECT_EQ(container["resources"]["limits"]["nvidia.com/gpu"].as<int>(), 1);
}

TEST(KubernetesManifestTest, NamesOfFoldersArriveAsTheyAre) {
  const fs::path odd = "/class/a 'b' \"c\" #d $(HOME) - {e}\n\xC3\xA9";
  const std::string text =
      kubernetes_manifest(options_in(odd), "rooflab-1", odd / "jobs.json", 1, 0);
  const YAML::Node pod = YAML::Load(text)["spec"]["template"]["spec"];
  const YAML::Node container = pod["containers"][0];
  EXPECT_EQ(container["volumeMounts"][0]["mountPath"].as<std::string>(), odd.string());
  EXPECT_THAT(container["args"][1].as<std::string>(), HasSubstr("$$(HOME)"));
  EXPECT_FALSE(pod["activeDeadlineSeconds"]);
}

TEST(KubernetesManifestTest, WhatKubernetesCannotMountIsRefused) {
  EXPECT_THROW(kubernetes_manifest(options_in("/class:1"), "rooflab-1", "/l", 1, 0), ExecutorError);
  for (const char* sub_path : {"/autumn", "../other", "a/../../b"}) {
    KubernetesOptions options = options_in("/class");
    options.sub_path = sub_path;
    EXPECT_THROW(kubernetes_manifest(options, "rooflab-1", "/l", 1, 0), ExecutorError);
  }
}

TEST(KubernetesArgumentsTest, AreCheckedByName) {
  const auto read = [](const std::vector<std::string>& arguments) {
    KubernetesOptions options = options_in("/class");
    options.image = options.claim = "";
    read_kubernetes_arguments(arguments, options);
    return options;
  };
  const auto options = read({"--image=r/i:1", "--claim=class", "--gpus=2", "--memory-mib=8000"});
  EXPECT_EQ(options.image, "r/i:1");
  EXPECT_EQ(options.gpus, 2U);
  EXPECT_EQ(options.memory_mib, 8000U);
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"--image=i"},
                                                       {"--claim=c"},
                                                       {"--image=i", "--claim=C_"},
                                                       {"--image=i", "--claim=c", "--gpus=two"},
                                                       {"--image=i", "--claim=c", "--gpus=-1"},
                                                       {"--image=i", "--claim=c", "--user=0"},
                                                       {"--image=i", "--claim=c", "--colour=red"},
                                                       {"--image", "i", "--claim=c"}};
  for (const auto& arguments : wrong) EXPECT_THROW(read(arguments), ExecutorError);
}

class KubernetesExecutorTest : public testing::Test {
 protected:
  Job job(const std::string& name) {
    fs::create_directories(folder_.path() / "jobs" / name);
    return {.name = name, .folder = folder_.path() / "jobs" / name, .limit_s = 10};
  }
  /// Runs until `idle` says so, and returns the names of what was done.
  std::vector<std::string> run(const std::vector<Job>& jobs, const std::function<bool()>& idle) {
    std::vector<std::string> done;
    KubernetesExecutor(options_in(folder_.path()))
        .run(
            jobs, [&](const JobEnd& end) { done.push_back(end.done ? end.name : end.why); }, idle);
    return done;
  }
  std::vector<fs::path> manifests() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "kubernetes")) {
      if (!is_closed(entry.path() / "jobs.json")) found.push_back(entry.path() / "job.yaml");
    }
    return found;
  }
  TemporaryFolder folder_{fs::temp_directory_path()};
};

TEST_F(KubernetesExecutorTest, WritesAManifestAndWaitsForItsResults) {
  const std::vector<Job> jobs = {job("one"), job("two")};
  std::ofstream(jobs[0].folder / "result.json") << "{}";
  const auto pods = [&] {
    if (const auto found = manifests(); !found.empty()) {
      EXPECT_EQ(YAML::LoadFile(found[0])["spec"]["completions"].as<int>(), 1);
      EXPECT_EQ(read_task_list(found[0].parent_path() / "jobs.json")[0].name, "two");
      std::ofstream(jobs[1].folder / "result.json") << "{}";
    }
    return false;
  };
  EXPECT_THAT(run(jobs, pods), UnorderedElementsAre("one", "two"));
}

TEST_F(KubernetesExecutorTest, WaitsForTheSameManifestAgainAndClosesOneThatLacksJobs) {
  const auto at_once = [] { return true; };
  run({job("one"), job("two")}, at_once);
  const auto first = manifests();
  run({job("two")}, at_once);
  EXPECT_EQ(manifests(), first);
  run({job("two"), job("three")}, at_once);
  ASSERT_EQ(manifests().size(), 1U);
  EXPECT_NE(manifests(), first);
  EXPECT_TRUE(is_closed(first[0].parent_path() / "jobs.json"));
}

TEST_F(KubernetesExecutorTest, ASecondRunOfTheSameJobsWantsNewPods) {
  const Job one = job("one");
  const auto leave_result = [&] {
    std::ofstream(one.folder / "result.json") << "{}";
    return false;
  };
  run({one}, leave_result);
  EXPECT_TRUE(manifests().empty());
  fs::remove(one.folder / "result.json");
  run({one}, leave_result);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path() / "kubernetes"), {}), 2);
}

TEST_F(KubernetesExecutorTest, TellsWhyAJobFailedInEveryAttempt) {
  const fs::path grader = folder_.path() / "grader";
  std::ofstream(grader) << "#!/bin/sh\nexit 4\n";
  chmod(grader.c_str(), 0755);
  int attempts = 0;
  const auto pods = [&] {
    if (attempts++ < 3) run_task(grader, manifests()[0].parent_path() / "jobs.json", 0);
    return false;
  };
  EXPECT_THAT(run({job("one")}, pods),
              UnorderedElementsAre("the worker ended with exit code 4 and left no result"));
}

}  // namespace
}  // namespace rooflab
