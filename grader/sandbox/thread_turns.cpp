#include "grader/sandbox/thread_turns.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "grader/sandbox/process_tree.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

/// State of a thread, 'R' or 'T', by its /proc/<pid>/task/<tid>: the word after the last ')', since
/// names hold anything. 'X' for one that is gone.
char state_of(const fs::path& thread) {
  std::ifstream file(thread / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t close = line.rfind(')');
  return close == std::string::npos || close + 2 >= line.size() ? 'X' : line[close + 2];
}

/// How often a thread got a processor: the third number of its schedstat.
std::optional<std::uint64_t> turns_of_thread(const fs::path& thread) {
  std::ifstream file(thread / "schedstat");
  std::uint64_t ran_ns = 0, waited_ns = 0, turns = 0;
  return file >> ran_ns >> waited_ns >> turns ? std::optional(turns) : std::nullopt;
}

}  // namespace

ThreadTurns turns_of(const std::vector<pid_t>& processes) {
  constexpr std::string_view kCannotRun = "TtZXx";
  ThreadTurns seen;
  for (const pid_t process : processes) {
    std::error_code error;
    const fs::path tasks = fs::path("/proc") / std::to_string(process) / "task";
    for (fs::directory_iterator task(tasks, error), end; !error && task != end;
         task.increment(error)) {
      // Before its state: one that runs once more behind this shows in the next count.
      const auto turns = turns_of_thread(task->path());
      if (turns) seen.turns[std::atoi(task->path().filename().c_str())] = *turns;
      const bool cannot_run = kCannotRun.find(state_of(task->path())) != std::string_view::npos;
      seen.all_stopped = seen.all_stopped && cannot_run;
    }
  }
  return seen;
}

std::optional<StoppedTree> stop_descendants(pid_t root, std::chrono::duration<double> patience) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience;
  std::vector<pid_t> before;
  do {
    std::vector<pid_t> found = descendants(root);
    for (const pid_t process : found) kill(process, SIGSTOP);
    ThreadTurns seen = turns_of(found);
    // One that was started meanwhile is in the next list.
    if (seen.all_stopped && found == before) return StoppedTree{std::move(found), std::move(seen)};
    before = std::move(found);
    usleep(100);
  } while (Clock::now() < end);
  return std::nullopt;
}

}  // namespace rooflab
