#include "grader/author/verify/runner.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <numeric>
#include <thread>

#include "grader/author/verify/ran.h"
#include "grader/batch/execute/worker_process.h"
#include "grader/spec/files.h"
#include "grader/spec/part.h"

namespace rooflab::verify {
namespace {

using Clock = std::chrono::steady_clock;

Outcome failed(const std::exception& error, bool fault) {
  Outcome outcome;
  outcome.fault = fault;
  outcome.failures.push_back({error.what(), ""});
  return outcome;
}

/// What `work` makes; an unusable file of the course is a failure, anything else a fault.
template <typename Work>
Outcome outcome_of(const Work& work) {
  try {
    return work();
  } catch (const SpecError& error) {
    return failed(error, false);
  } catch (const std::exception& error) {
    return failed(error, true);
  }
}

Ran read_ran(const WorkerEnd& end, const Job& job) {
  Ran ran;
  if (end.how == WorkerEnd::How::exited) {
    ran.exit_code = end.value;
  } else {
    ran.end = sentence_of(end, job);
  }
  if (std::filesystem::exists(job.folder / kLogFile)) ran.log = read_file(job.folder / kLogFile);
  const auto grade = job.folder / "grade.json";
  if (std::filesystem::exists(grade)) ran.document = nlohmann::json::parse(read_file(grade));
  return ran;
}

/// The commands that run now, and what has come of those before.
class Runner {
 public:
  Runner(const std::vector<Check>& checks, const RunnerOptions& options,
         const std::function<void(const std::string&)>& progress)
      : checks_(checks),
        options_(options),
        progress_(progress),
        scratch_(std::filesystem::temp_directory_path()),
        outcomes_(checks.size()) {}

  std::vector<Outcome> run() {
    const unsigned jobs =
        options_.jobs > 0 ? options_.jobs : std::max(1U, std::thread::hardware_concurrency());
    for (const std::size_t next : by_weight()) {
      while (running_.size() >= jobs) wait();
      start(next);
    }
    while (!running_.empty()) wait();
    if (jobs > 1) try_again_alone();
    return std::move(outcomes_);
  }

 private:
  struct Running {
    std::size_t check;
    Job job;
    Clock::time_point start;
    WorkerProcess process;
  };

  std::vector<std::size_t> by_weight() const {
    std::vector<std::size_t> order(checks_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t i) { return checks_[i].weight; });
    return order;
  }

  /// A time limit is of wall time: gradings side by side may have been its cause.
  void try_again_alone() {
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (outcomes_[i].proved() || !outcomes_[i].out_of_time) continue;
      --failed_;
      --done_;
      start(i);
      while (!running_.empty()) wait();
    }
  }

  void start(std::size_t index) {
    const Check& check = checks_[index];
    const Job job{.name = std::to_string(index),
                  .folder = scratch_.path() / std::to_string(index),
                  .limit_s = options_.limit_s};
    std::vector<std::string> command;
    Outcome outcome = outcome_of([&] {
      std::filesystem::create_directories(job.folder);
      if (check.command) command = check.command(job.folder);
      return command.empty() ? check.judge({}) : Outcome{};
    });
    if (command.empty()) {
      finish(index, std::move(outcome));
    } else {
      running_.push_back({index, job, Clock::now(), WorkerProcess(command, job)});
      tell();
    }
  }

  /// Until at least one command has ended.
  void wait() {
    std::vector<pollfd> waits;
    for (const Running& one : running_) waits.push_back({one.process.pollable(), POLLIN, 0});
    poll(waits.data(), waits.size(), -1);
    auto one = running_.begin();
    for (const pollfd& wait : waits) {
      if ((wait.revents & POLLIN) == 0) {
        ++one;
        continue;
      }
      take_end(*one);
      one = running_.erase(one);
    }
  }

  void take_end(Running& one) {
    const WorkerEnd end = one.process.wait();
    const double seconds = std::chrono::duration<double>(Clock::now() - one.start).count();
    Outcome outcome = outcome_of([&] { return checks_[one.check].judge(read_ran(end, one.job)); });
    outcome.seconds = seconds;
    remove_all(one.job.folder);
    finish(one.check, std::move(outcome));
  }

  void finish(std::size_t index, Outcome outcome) {
    if (!outcome.proved()) ++failed_;
    ++done_;
    outcomes_[index] = std::move(outcome);
    tell();
  }

  void tell() const {
    std::string text = fmt::format("{} of {} proofs", done_, checks_.size());
    if (failed_ > 0) text += fmt::format(", {} failed", failed_);
    if (!running_.empty()) text += ": " + describe(checks_[running_.back().check].claim);
    progress_(text);
  }

  static void remove_all(const std::filesystem::path& folder) {
    std::error_code ignored;  // what is left goes with the scratch folder
    std::filesystem::remove_all(folder, ignored);
  }

  const std::vector<Check>& checks_;
  RunnerOptions options_;
  const std::function<void(const std::string&)>& progress_;
  TemporaryFolder scratch_;  ///< outlives what runs in it
  std::list<Running> running_;
  std::vector<Outcome> outcomes_;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace

std::vector<Outcome> run_checks(const std::vector<Check>& checks, const RunnerOptions& options,
                                const std::function<void(const std::string&)>& progress) {
  return Runner(checks, options, progress).run();
}

}  // namespace rooflab::verify
