#include "simgpu/cli/guest_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "simgpu/memory/descriptor.h"

namespace simgpu::cli {
namespace {

std::vector<std::string> environment_for(int device, const std::filesystem::path& libraries) {
  std::vector<std::string> variables;
  std::string search = libraries.string();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    if (variable.starts_with("SIMGPU_FD=")) continue;
    if (variable.starts_with("LD_LIBRARY_PATH=")) {
      search += ':';
      search.append(variable, std::strlen("LD_LIBRARY_PATH="));
      continue;
    }
    variables.push_back(variable);
  }
  variables.push_back("LD_LIBRARY_PATH=" + search);
  variables.push_back(fmt::format("SIMGPU_FD={}", device));
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& command, int device,
                       const std::filesystem::path& libraries) {
  Descriptor guest_end(device);
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment_for(device, libraries);
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(variables);

  // The pipe tells of an exec that failed: it closes by itself when exec succeeds.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for starting the program");
  Descriptor failure_read(ends[0]), failure_write(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0) {
    fcntl(guest_end.get(), F_SETFD, 0);
    execvpe(argv[0], argv.data(), envp.data());
    const int reason = errno;
    [[maybe_unused]] const ssize_t count = write(failure_write.get(), &reason, sizeof reason);
    _exit(127);
  }
  failure_write.reset();
  guest_end.reset();
  int reason = 0;
  const bool failed = read(failure_read.get(), &reason, sizeof reason) == sizeof reason;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (failed) {
    throw std::runtime_error(
        fmt::format("{} cannot be started: {}", command.front(), std::strerror(reason)));
  }
  constexpr int kSignalBase = 128;
  if (WIFSIGNALED(status)) return {.code = kSignalBase + WTERMSIG(status), .by_signal = true};
  return {.code = WEXITSTATUS(status), .by_signal = false};
}

}  // namespace simgpu::cli
