#include "grader/batch/execute/clusters/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "grader/batch/execute/clusters/run_command.h"
#include "grader/batch/execute/executor.h"

namespace rooflab {
namespace {

// One task a line: array, index, state, reason. The reason may hold anything, so it comes last.
constexpr const char* kQueueFormat = "%j|%K|%T|%r";

// sbatch's options that would hide the array or its end from the executor. A value may follow after
// =, or for one letter at once.
constexpr std::array kOwnOptions{"--array",      "--job-name", "--parsable", "--requeue",
                                 "--no-requeue", "--output",   "--error",    "--wait",
                                 "--wrap",       "--clusters", "--test-only"};
constexpr std::string_view kOwnLetters = "aJoeWM";

struct NamedFate {
  std::string_view state;
  TaskFate fate;
};
// The states of squeue(1), "JOB STATE CODES".
constexpr std::array kFates{
    NamedFate{"PENDING", TaskFate::waiting},     NamedFate{"CONFIGURING", TaskFate::running},
    NamedFate{"RUNNING", TaskFate::running},     NamedFate{"COMPLETING", TaskFate::running},
    NamedFate{"SUSPENDED", TaskFate::running},   NamedFate{"STOPPED", TaskFate::running},
    NamedFate{"SIGNALING", TaskFate::running},   NamedFate{"STAGE_OUT", TaskFate::running},
    NamedFate{"RESIZING", TaskFate::running},    NamedFate{"REQUEUED", TaskFate::waiting},
    NamedFate{"REQUEUE_FED", TaskFate::waiting}, NamedFate{"RESV_DEL_HOLD", TaskFate::held},
    NamedFate{"REQUEUE_HOLD", TaskFate::held},   NamedFate{"SPECIAL_EXIT", TaskFate::held},
    NamedFate{"COMPLETED", TaskFate::ended},     NamedFate{"FAILED", TaskFate::ended},
    NamedFate{"TIMEOUT", TaskFate::ended},       NamedFate{"OUT_OF_MEMORY", TaskFate::ended},
    NamedFate{"DEADLINE", TaskFate::ended},      NamedFate{"CANCELLED", TaskFate::cancelled},
    NamedFate{"NODE_FAIL", TaskFate::lost},      NamedFate{"BOOT_FAIL", TaskFate::lost},
    NamedFate{"PREEMPTED", TaskFate::lost},      NamedFate{"REVOKED", TaskFate::lost}};
// What a broken node makes of a task that waits. Other holds are a person's, who lets go of them.
constexpr std::string_view kHeldReason = "launch failed requeued held";

[[noreturn]] void nonsense(const char* command, std::string_view text) {
  throw ExecutorError(fmt::format(
      "{} printed what is not understood here: \"{}\"; this was written for Slurm 22.05 "
      "to 24: run the batch with --executor local",
      command, text.substr(0, 200)));
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What tasks say before a worker runs, which has a log of its own. Slurm expands a '%' in it, and
/// nothing at all after a backslash.
std::string output_pattern(const std::filesystem::path& folder) {
  std::string text;
  for (const char letter : folder.string()) {
    if (letter == '\\') return "/dev/null";
    text += letter == '%' ? std::string("%%") : std::string(1, letter);
  }
  return text + "/%a.txt";
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

std::string on_one_line(std::string_view text) {
  constexpr std::size_t kMost = 400;
  std::string line(trimmed(text).substr(0, kMost));
  for (std::size_t at = 0; (at = line.find('\n', at)) != std::string::npos; at += 2) {
    line.replace(at, 1, "; ");
  }
  return line;
}

/// Our environment but for what would change the meaning or the form of what we ask.
std::vector<std::string> environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool changes = text.starts_with("SQUEUE_") || text.starts_with("SCANCEL_") ||
                         text.starts_with("SLURM_CLUSTERS=") || text.starts_with("SBATCH_WAIT") ||
                         text.starts_with("SBATCH_CLUSTERS=") ||
                         text.starts_with("SLURM_BITSTR_LEN=");
    if (!changes) kept.emplace_back(text);
  }
  return kept;
}

bool is_own(std::string_view argument) {
  if (argument.starts_with("--")) {
    // sbatch takes any beginning of a name that fits one option only: --arr.
    const std::string_view name = argument.substr(0, argument.find('='));
    return name.size() > 2 &&
           std::any_of(kOwnOptions.begin(), kOwnOptions.end(),
                       [&](std::string_view own) { return own.starts_with(name); });
  }
  return argument.size() > 1 && argument[0] == '-' &&
         kOwnLetters.find(argument[1]) != std::string_view::npos;
}

}  // namespace

TaskFate fate_of(const QueuedTask& task) {
  const auto* known = std::find_if(kFates.begin(), kFates.end(),
                                   [&](const NamedFate& one) { return one.state == task.state; });
  if (known == kFates.end()) nonsense("squeue", task.state);
  const bool held = task.reason == kHeldReason;
  return known->fate == TaskFate::waiting && held ? TaskFate::held : known->fate;
}

Slurm::Slurm(std::filesystem::path programs, std::chrono::duration<double> limit)
    : programs_(std::move(programs)), limit_(limit) {}

std::string Slurm::program(const char* name) const {
  return programs_.empty() ? name : (programs_ / name).string();
}

std::string Slurm::ask(const std::vector<std::string>& command, const Idle& idle) const {
  const CommandOutcome outcome = run_command(command, environment(), {.time = limit_}, idle);
  const std::string name = std::filesystem::path(command.front()).filename();
  if (!outcome.ended) throw SlurmSilent(fmt::format("{} did not come to an end", name));
  if (outcome.exit_code != 0) {
    throw SlurmSilent(fmt::format("{} failed: {}", name, on_one_line(outcome.errors)));
  }
  return outcome.output;
}

std::size_t Slurm::max_array_size(const Idle& idle) const {
  return parse_max_array_size(ask({program("scontrol"), "show", "config"}, idle));
}

std::uint64_t Slurm::submit(const ArrayRequest& request, const Idle& idle) const {
  std::vector<std::string> command = sbatch_arguments(request);
  command.insert(command.begin(), program("sbatch"));
  try {
    return parse_job_number(ask(command, idle));
  } catch (const SlurmSilent& error) {
    throw SlurmRefused(error.what());
  }
}

std::vector<QueuedTask> Slurm::queue(const std::vector<std::string>& arrays,
                                     const Idle& idle) const {
  std::vector<QueuedTask> tasks = parse_queue(
      ask({program("squeue"), "--noheader", "--array", "--states=all",
           fmt::format("--user={}", geteuid()), fmt::format("--name={}", fmt::join(arrays, ",")),
           fmt::format("--format={}", kQueueFormat)},
          idle));
  for (const QueuedTask& task : tasks) {
    if (std::find(arrays.begin(), arrays.end(), task.array) == arrays.end()) {
      nonsense("squeue", task.array);
    }
  }
  return tasks;
}

void Slurm::cancel(const std::string& array, const Idle& idle) const {
  ask({program("scancel"), "--quiet", fmt::format("--name={}", array)}, idle);
}

std::vector<std::string> sbatch_arguments(const ArrayRequest& request) {
  std::vector<std::string> arguments = {"--parsable", "--requeue",
                                        fmt::format("--job-name={}", request.name)};
  arguments.push_back(request.at_most > 0
                          ? fmt::format("--array=0-{}%{}", request.tasks - 1, request.at_most)
                          : fmt::format("--array=0-{}", request.tasks - 1));
  arguments.push_back(fmt::format("--output={}", output_pattern(request.messages)));
  arguments.push_back(fmt::format("--cpus-per-task={}", request.cpus));
  if (request.memory_mib > 0) arguments.push_back(fmt::format("--mem={}M", request.memory_mib));
  if (request.minutes > 0) arguments.push_back(fmt::format("--time={}", request.minutes));
  if (!request.partition.empty()) {
    arguments.push_back(fmt::format("--partition={}", request.partition));
  }
  for (const std::string& argument : request.arguments) {
    if (is_own(argument)) {
      throw ExecutorError(fmt::format(
          "sbatch's {} is the batch's own to set, since it follows what it submits; leave it out",
          argument));
    }
    arguments.push_back(argument);
  }
  arguments.push_back(request.script.string());
  return arguments;
}

std::size_t parse_max_array_size(std::string_view text) {
  constexpr std::string_view kKey = "MaxArraySize ";
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = first_line(rest);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.starts_with(kKey)) continue;
    const std::size_t sign = line.find('=');
    const auto size = number_of(trimmed(line.substr(std::min(sign, line.size() - 1) + 1)));
    if (!size) nonsense("scontrol", line);
    if (*size < 2) {
      throw ExecutorError(
          "this Slurm takes no job arrays (MaxArraySize); ask who runs it, or run "
          "the batch with --executor local");
    }
    return *size;
  }
  nonsense("scontrol", text);
}

std::uint64_t parse_job_number(std::string_view text) {
  const std::string_view line = trimmed(text);  // "12", or "12;cluster"
  const auto number = number_of(line.substr(0, line.find(';')));
  if (!number || line.find('\n') != std::string_view::npos) nonsense("sbatch", text);
  return *number;
}

std::vector<QueuedTask> parse_queue(std::string_view text) {
  std::vector<QueuedTask> tasks;
  while (!text.empty()) {
    const std::string_view line = first_line(text);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::string_view rest = line;
    std::array<std::string_view, 3> words;
    for (std::string_view& word : words) {
      const std::size_t bar = rest.find('|');
      if (bar == std::string_view::npos) nonsense("squeue", line);
      word = rest.substr(0, bar);
      rest.remove_prefix(bar + 1);
    }
    const auto index = number_of(words[1]);
    if ((!index && words[1] != "N/A") || words[0].empty() || words[2].empty()) {
      nonsense("squeue", line);
    }
    tasks.push_back({std::string(words[0]), index, std::string(words[2]), std::string(rest)});
  }
  return tasks;
}

}  // namespace rooflab
