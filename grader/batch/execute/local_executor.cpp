#include "grader/batch/execute/local_executor.h"

#include <poll.h>

#include <algorithm>
#include <list>
#include <thread>
#include <utility>

#include "grader/batch/execute/worker_process.h"

namespace rooflab {
namespace {

constexpr int kIdleIntervalMs = 100;
constexpr int kEndingPatienceMs = 15'000;

JobEnd end_of(const Job& job, const WorkerEnd& end) {
  if (has_result(job)) return {.name = job.name, .done = true, .why = {}};
  return {.name = job.name, .done = false, .why = sentence_of(end, job)};
}

/// The workers that run now.
class Workers {
 public:
  Workers() = default;
  // All are told before the first is waited for, so that they end side by side.
  ~Workers() { end_all(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t size() const { return running_.size(); }
  void start(const std::filesystem::path& grader, const Job& job) {
    running_.push_back({&job, WorkerProcess(worker_command(grader, job.folder), job)});
  }
  void end_all() {
    for (Running& one : running_) one.process.end();
  }
  /// Waits a moment for ends, and hands them over.
  std::vector<JobEnd> ended_now(int patience_ms) {
    std::vector<pollfd> waits;
    for (const Running& one : running_) waits.push_back({one.process.pollable(), POLLIN, 0});
    poll(waits.data(), waits.size(), patience_ms);
    std::vector<JobEnd> ends;
    auto one = running_.begin();
    for (const pollfd& wait : waits) {
      if ((wait.revents & POLLIN) == 0) {
        ++one;
        continue;
      }
      ends.push_back(end_of(*one->job, one->process.wait()));
      one = running_.erase(one);
    }
    return ends;
  }

 private:
  struct Running {
    const Job* job;
    WorkerProcess process;
  };
  std::list<Running> running_;
};

void tell_results(Workers& workers, const std::function<void(const JobEnd&)>& ended) {
  workers.end_all();
  while (workers.size() > 0) {
    const std::vector<JobEnd> ends = workers.ended_now(kEndingPatienceMs);
    if (ends.empty()) return;
    for (const JobEnd& end : ends) {
      if (end.done) ended(end);
    }
  }
}

}  // namespace

LocalExecutor::LocalExecutor(LocalOptions options) : options_(std::move(options)) {
  if (options_.jobs == 0) options_.jobs = std::max(1U, std::thread::hardware_concurrency());
}

void LocalExecutor::run(const std::vector<Job>& jobs,
                        const std::function<void(const JobEnd&)>& ended,
                        const std::function<bool()>& idle) {
  Workers workers;
  auto next = jobs.begin();
  const auto start_some = [&] {
    while (next != jobs.end() && workers.size() < options_.jobs) {
      if (has_result(*next)) {
        ended({.name = next->name, .done = true, .why = {}});
      } else {
        try {
          workers.start(options_.grader, *next);
        } catch (const ExecutorError&) {
          if (workers.size() == 0) throw;
          return;  // when one of those has ended there may be room
        }
      }
      ++next;
    }
  };
  for (;;) {
    if (idle()) {
      tell_results(workers, ended);
      return;
    }
    start_some();
    if (workers.size() == 0) return;
    for (const JobEnd& end : workers.ended_now(kIdleIntervalMs)) ended(end);
  }
}

}  // namespace rooflab
