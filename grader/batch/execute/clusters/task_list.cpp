#include "grader/batch/execute/clusters/task_list.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "grader/batch/execute/worker_process.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kSchema = 1;
constexpr std::size_t kLargestEndFile = std::size_t{1} << 16;

fs::path end_file(const Job& job) { return job.folder / "end.json"; }

fs::path closed_mark(const fs::path& list) { return list.string() + ".closed"; }

/// The signals that ask this process to end, to be read instead of obeyed.
class EndRequests {
 public:
  EndRequests() {
    sigset_t ends;
    sigemptyset(&ends);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, number);
    sigprocmask(SIG_BLOCK, &ends, &before_);
    descriptor_ = Descriptor(signalfd(-1, &ends, SFD_CLOEXEC));
  }
  ~EndRequests() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  EndRequests(const EndRequests&) = delete;
  EndRequests& operator=(const EndRequests&) = delete;
  int pollable() const { return descriptor_.get(); }

 private:
  sigset_t before_;
  Descriptor descriptor_;
};

WorkerEnd run_worker(const std::vector<std::string>& command, const Job& job) {
  const EndRequests requests;
  WorkerProcess worker(command, job);
  std::array<pollfd, 2> waits{{{worker.pollable(), POLLIN, 0}, {requests.pollable(), POLLIN, 0}}};
  while (waits[0].revents == 0) {
    poll(waits.data(), waits.size(), -1);
    if (waits[1].revents != 0) {
      worker.end();
      waits[1].fd = -1;
      waits[1].revents = 0;
    }
  }
  return worker.wait();
}

}  // namespace

std::vector<std::string> task_command(const fs::path& grader, const fs::path& list) {
  return {grader.string(), "batch-task", list.string()};
}

void write_task_list(const fs::path& list, const std::vector<Job>& jobs) {
  Json all = Json::array();
  for (const Job& job : jobs) {
    all.push_back({{"name", job.name}, {"folder", job.folder.string()}, {"limit_s", job.limit_s}});
  }
  const Json document = {{"schema", kSchema}, {"jobs", std::move(all)}};
  // Bytes that are no UTF-8 would name another folder afterwards: refused, by an exception.
  try {
    write_file_atomically(list, document.dump(1) + "\n");
  } catch (const Json::exception&) {
    throw FileError(
        fmt::format("cannot write {}: a job's folder has a name that is no UTF-8; give "
                    "--out a folder whose name is",
                    list.string()));
  }
}

std::vector<Job> read_task_list(const fs::path& list) {
  const std::string text = read_file(list);
  try {
    const Json document = Json::parse(text);
    if (document.at("schema").get<int>() != kSchema) {
      throw FileError(
          fmt::format("{} was written by another version of the grader; run the batch "
                      "anew with this one",
                      list.string()));
    }
    std::vector<Job> jobs;
    for (const Json& one : document.at("jobs")) {
      jobs.push_back({.name = one.at("name").get<std::string>(),
                      .folder = one.at("folder").get<std::string>(),
                      .limit_s = one.at("limit_s").get<double>()});
    }
    return jobs;
  } catch (const Json::exception& error) {
    throw FileError(fmt::format("{} is no list of jobs ({}); remove it and run the batch again",
                                list.string(), error.what()));
  }
}

void close_task_list(const fs::path& list) { write_file_atomically(closed_mark(list), ""); }

bool is_closed(const fs::path& list) {
  std::error_code error;
  return fs::exists(closed_mark(list), error);
}

int run_task(const fs::path& grader, const fs::path& list, std::size_t index) {
  if (is_closed(list)) return 0;
  const std::vector<Job> jobs = read_task_list(list);
  if (index >= jobs.size()) {
    throw ExecutorError(
        fmt::format("{} has {} jobs and none with the number {}; tasks are numbered "
                    "from 0",
                    list.string(), jobs.size(), index));
  }
  const Job& job = jobs[index];
  // Whoever has collected a result may have removed the folder.
  std::error_code none;
  if (has_result(job) || !fs::is_directory(job.folder, none)) return 0;
  const auto before = last_failure(job, list);
  fs::remove(end_file(job), none);
  const WorkerEnd end = run_worker(worker_command(grader, job.folder), job);
  if (has_result(job) || !fs::is_directory(job.folder, none)) return 0;
  if (end.how != WorkerEnd::How::asked) {
    const Json why = {{"list", list.string()},
                      {"attempts", before ? before->attempts + 1 : 1},
                      {"why", sentence_of(end, job)}};
    write_file_atomically(end_file(job),
                          why.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  return 1;
}

std::optional<TaskFailure> last_failure(const Job& job, const fs::path& list) {
  try {
    const Json end = Json::parse(read_file(end_file(job), kLargestEndFile));
    if (end.at("list").get<std::string>() != list.string()) return std::nullopt;
    return TaskFailure{.attempts = end.at("attempts").get<unsigned>(),
                       .why = end.at("why").get<std::string>()};
  } catch (const FileError&) {
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace rooflab
