#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "topic.h"

/// `fidelity` runs each topic in a process of its own, `fidelity TOPIC...` those, in this process
/// if it is one, and `fidelity list` says which there are.
namespace {

using fidelity::Topic;

constexpr unsigned kSecondsOfATopic = 20;

int run_here(const Topic& topic) {
  // What a topic printed must outlive it, whatever ends it.
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  alarm(kSecondsOfATopic);
  topic.run();
  std::fflush(stdout);
  return 0;
}

void run_apart(const Topic& topic) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "fidelity", topic.name.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("end %s -> %s %d\n", topic.name.c_str(), WIFSIGNALED(status) ? "signal" : "exit",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<Topic> all = fidelity::topics();
  std::ranges::sort(all, {}, &Topic::name);
  if (count == 2 && std::strcmp(arguments[1], "list") == 0) {
    for (const Topic& topic : all) std::printf("%s\n", topic.name.c_str());
    return 0;
  }
  if (count == 1) {
    for (const Topic& topic : all) run_apart(topic);
    return 0;
  }
  for (int i = 1; i < count; ++i) {
    const auto topic = std::ranges::find(all, std::string(arguments[i]), &Topic::name);
    if (topic == all.end()) {
      std::fprintf(stderr, "fidelity: no topic %s; `fidelity list` has all\n", arguments[i]);
      return 2;
    }
    if (count == 2) return run_here(*topic);
    run_apart(*topic);
  }
  return 0;
}
