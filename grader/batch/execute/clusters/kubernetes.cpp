#include "grader/batch/execute/clusters/kubernetes.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "grader/batch/execute/clusters/task_list.h"
#include "grader/spec/files.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using OrderedJson = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kBetweenLooks{100};
constexpr double kSpareSeconds = 300;  // for the image to come, and the worker to say why it failed

/// Kubernetes replaces $(NAME) in a container's words, and takes $$( for $(.
std::string literally(const std::string& word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '$' && i + 1 < word.size() && word[i + 1] == '(') text += '$';
    text += word[i];
  }
  return text;
}

std::string mebibytes(std::uint64_t count) { return fmt::format("{}Mi", count); }

OrderedJson resources(const KubernetesOptions& options) {
  OrderedJson amounts = {{"cpu", std::to_string(options.cpus)},
                         {"memory", mebibytes(options.memory_mib)}};
  if (options.gpus > 0) amounts["nvidia.com/gpu"] = std::to_string(options.gpus);
  return {{"requests", amounts}, {"limits", amounts}};
}

OrderedJson container(const KubernetesOptions& options, const fs::path& list) {
  std::vector<std::string> words;
  for (const std::string& word : task_command(options.grader, list)) {
    words.push_back(literally(word));
  }
  const std::string program = words.front();
  words.erase(words.begin());
  words.emplace_back("$(JOB_COMPLETION_INDEX)");
  OrderedJson batch = {{"name", "batch"}, {"mountPath", options.volume.string()}};
  if (!options.sub_path.empty()) batch["subPath"] = options.sub_path;
  return {
      {"name", "grader"},
      {"image", options.image},
      {"command", OrderedJson::array({program})},
      {"args", words},
      {"env", OrderedJson::array({{{"name", "HOME"}, {"value", "/tmp"}}})},
      {"resources", resources(options)},
      {"securityContext",
       {{"allowPrivilegeEscalation", false},
        {"readOnlyRootFilesystem", true},
        {"capabilities", {{"drop", OrderedJson::array({"ALL"})}}}}},
      {"volumeMounts", OrderedJson::array({batch, {{"name", "scratch"}, {"mountPath", "/tmp"}}})}};
}

OrderedJson pod(const KubernetesOptions& options, const fs::path& list, double longest_s) {
  OrderedJson spec = {
      {"restartPolicy", "Never"},
      // The cluster's own services are no business of a submission.
      {"automountServiceAccountToken", false},
      {"enableServiceLinks", false},
      {"terminationGracePeriodSeconds", 15},
      {"securityContext",
       {{"runAsNonRoot", true},
        {"runAsUser", options.user},
        {"runAsGroup", options.user},
        {"fsGroup", options.user},
        {"fsGroupChangePolicy", "OnRootMismatch"},
        {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"containers", OrderedJson::array({container(options, list)})},
      {"volumes",
       OrderedJson::array(
           {{{"name", "batch"}, {"persistentVolumeClaim", {{"claimName", options.claim}}}},
            {{"name", "scratch"},
             {"emptyDir", {{"sizeLimit", mebibytes(options.scratch_mib)}}}}})}};
  if (longest_s > 0) {
    spec["activeDeadlineSeconds"] = static_cast<std::int64_t>(std::ceil(longest_s + kSpareSeconds));
  }
  return spec;
}

// Types are the document's, since YAML would take an unquoted "True" or "2" for something else.
void emit(YAML::Emitter& text, const OrderedJson& value) {
  if (value.is_object()) {
    text << YAML::BeginMap;
    for (const auto& [key, member] : value.items()) {
      text << YAML::Key << key << YAML::Value;
      emit(text, member);
    }
    text << YAML::EndMap;
  } else if (value.is_array()) {
    text << YAML::BeginSeq;
    for (const OrderedJson& member : value) emit(text, member);
    text << YAML::EndSeq;
  } else if (value.is_boolean()) {
    text << value.get<bool>();
  } else if (value.is_number()) {
    text << value.get<std::int64_t>();
  } else {
    text << YAML::DoubleQuoted << value.get<std::string>();
  }
}

std::string random_job_name() {
  std::random_device random;
  return fmt::format("rooflab-{:08x}", random());
}

/// A manifest that was written, with the list of its jobs.
struct Written {
  fs::path folder;
  std::vector<Job> jobs;
  fs::path list() const { return folder / "jobs.json"; }
  fs::path manifest() const { return folder / "job.yaml"; }
};

std::vector<Written> written_in(const fs::path& folder) {
  std::vector<Written> all;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    Written one{.folder = entry->path(), .jobs = {}};
    if (is_closed(one.list())) continue;
    try {
      one.jobs = read_task_list(one.list());
      all.push_back(std::move(one));
    } catch (const FileError&) {
      // A list is written before its manifest: without one no cluster knows of this folder.
    }
  }
  return all;
}

bool holds_all(const Written& written, const std::vector<Job>& jobs) {
  std::set<fs::path> folders;
  for (const Job& job : written.jobs) folders.insert(job.folder);
  return fs::exists(written.manifest()) &&
         std::all_of(jobs.begin(), jobs.end(),
                     [&](const Job& job) { return folders.contains(job.folder); });
}

Written write_manifest(const KubernetesOptions& options, const std::vector<Job>& jobs) {
  const std::string name = random_job_name();
  Written written{.folder = options.folder / name, .jobs = jobs};
  double longest_s = 0;
  for (const Job& job : jobs) longest_s = std::max(longest_s, job.limit_s);
  if (std::any_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.limit_s <= 0; })) {
    longest_s = 0;
  }
  write_task_list(written.list(), jobs);
  write_file_atomically(written.manifest(),
                        kubernetes_manifest(options, name, written.list(), jobs.size(), longest_s));
  return written;
}

/// The manifest to wait for. Older ones are closed: their pods end at once from now on.
Written current_manifest(const KubernetesOptions& options, const std::vector<Job>& jobs) {
  std::optional<Written> kept;
  for (Written& one : written_in(options.folder)) {
    if (!kept && holds_all(one, jobs)) {
      kept = std::move(one);
    } else {
      close_task_list(one.list());
    }
  }
  return kept ? *kept : write_manifest(options, jobs);
}

/// Kubernetes refuses these when the manifest is applied; its schema does not say so.
void require_mountable(const KubernetesOptions& options) {
  if (options.volume.string().find(':') != std::string::npos) {
    throw ExecutorError(
        fmt::format("Kubernetes mounts nothing at {}, which has a colon in it; give "
                    "--out another folder",
                    options.volume.string()));
  }
  const fs::path sub_path = options.sub_path;
  if (sub_path.is_absolute() ||
      std::find(sub_path.begin(), sub_path.end(), "..") != sub_path.end()) {
    throw ExecutorError(
        fmt::format("--sub-path={} is no path below the volume; write it without a "
                    "slash before it and without ..",
                    options.sub_path));
  }
}

void require_label(const std::string& what, const std::string& value) {
  static const Pattern label("[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?");
  if (!label.fits(value)) {
    throw ExecutorError(
        fmt::format("--executor-argument=--{}={} is no name that Kubernetes takes; "
                    "use small letters, digits and hyphens",
                    what, value));
  }
}

template <typename Number>
void read_number(const std::string& what, const std::string& value, Number& number) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    throw ExecutorError(
        fmt::format("--executor-argument=--{} wants a whole number, not \"{}\"", what, value));
  }
}

void read_argument(const std::string& what, const std::string& value, KubernetesOptions& options) {
  if (what == "image") {
    options.image = value;
  } else if (what == "claim") {
    require_label(what, value);
    options.claim = value;
  } else if (what == "namespace") {
    require_label(what, value);
    options.name_space = value;
  } else if (what == "sub-path") {
    options.sub_path = value;
  } else if (what == "grader") {
    options.grader = value;
  } else if (what == "cpus") {
    read_number(what, value, options.cpus);
  } else if (what == "memory-mib") {
    read_number(what, value, options.memory_mib);
  } else if (what == "scratch-mib") {
    read_number(what, value, options.scratch_mib);
  } else if (what == "gpus") {
    read_number(what, value, options.gpus);
  } else if (what == "user") {
    read_number(what, value, options.user);
  } else {
    throw ExecutorError(fmt::format(
        "--executor kubernetes takes no --{}; it takes --image, --claim, --sub-path, --grader, "
        "--namespace, --cpus, --memory-mib, --scratch-mib, --gpus and --user, each with =",
        what));
  }
}

}  // namespace

void read_kubernetes_arguments(const std::vector<std::string>& arguments,
                               KubernetesOptions& options) {
  for (const std::string& argument : arguments) {
    const std::size_t sign = argument.find('=');
    if (!argument.starts_with("--") || sign == std::string::npos) {
      throw ExecutorError(
          fmt::format("\"{}\" is no argument for --executor kubernetes; write "
                      "--executor-argument=--image=registry/rooflab:1",
                      argument));
    }
    read_argument(argument.substr(2, sign - 2), argument.substr(sign + 1), options);
  }
  for (const auto& [name, value] :
       {std::pair("image", &options.image), std::pair("claim", &options.claim)}) {
    if (value->empty()) {
      throw ExecutorError(
          fmt::format("--executor kubernetes needs --executor-argument=--{}=…", name));
    }
  }
  if (options.user == 0) {
    throw ExecutorError("--executor kubernetes runs no pods as root; leave --user out");
  }
}

std::string kubernetes_manifest(const KubernetesOptions& options, const std::string& name,
                                const fs::path& list, std::size_t tasks, double longest_s) {
  require_mountable(options);
  const OrderedJson labels = {{"app.kubernetes.io/name", "rooflab"}};
  OrderedJson metadata = {{"name", name}, {"labels", labels}};
  if (!options.name_space.empty()) metadata["namespace"] = options.name_space;
  // A node that is drained is nobody's fault, and counts as no attempt.
  const OrderedJson drained = {
      {"action", "Ignore"},
      {"onPodConditions",
       OrderedJson::array({{{"type", "DisruptionTarget"}, {"status", "True"}}})}};
  const std::size_t at_a_time =
      options.at_most == 0 ? tasks : std::min<std::size_t>(options.at_most, tasks);
  const OrderedJson job = {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", metadata},
      {"spec",
       {{"completionMode", "Indexed"},
        {"completions", tasks},
        {"parallelism", at_a_time},
        {"backoffLimitPerIndex", std::max(1U, options.attempts) - 1},
        {"maxFailedIndexes", tasks},         // one broken submission must not end the others
        {"podReplacementPolicy", "Failed"},  // not two pods for one job at a time
        {"podFailurePolicy", {{"rules", OrderedJson::array({drained})}}},
        {"template",
         {{"metadata", {{"labels", labels}}}, {"spec", pod(options, list, longest_s)}}}}}};
  YAML::Emitter text;
  emit(text, job);
  return fmt::format("{}\n", text.c_str());
}

KubernetesExecutor::KubernetesExecutor(KubernetesOptions options) : options_(std::move(options)) {}

void KubernetesExecutor::run(const std::vector<Job>& jobs,
                             const std::function<void(const JobEnd&)>& ended,
                             const std::function<bool()>& idle) {
  std::vector<Job> left;
  const auto tell_results = [&](const std::vector<Job>& candidates) {
    left.clear();
    for (const Job& job : candidates) {
      if (has_result(job)) {
        ended({.name = job.name, .done = true, .why = {}});
      } else {
        left.push_back(job);
      }
    }
  };
  tell_results(jobs);
  if (left.empty()) return;
  const Written written = current_manifest(options_, left);
  if (options_.progress) {
    options_.progress(
        fmt::format("waiting for the pods of: kubectl apply -f {}", written.manifest().string()));
  }
  for (auto next = Clock::now(); !left.empty() && !idle();) {
    std::this_thread::sleep_for(kBetweenLooks);
    if (Clock::now() < next) continue;
    next = Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.poll);
    tell_results(std::vector<Job>(left));
    std::erase_if(left, [&](const Job& job) {
      const auto failure = last_failure(job, written.list());
      if (!failure || failure->attempts < options_.attempts) return false;
      ended({.name = job.name, .done = false, .why = failure->why});
      return true;
    });
  }
  // What is asked for again wants pods of its own.
  if (left.empty()) close_task_list(written.list());
}

}  // namespace rooflab
