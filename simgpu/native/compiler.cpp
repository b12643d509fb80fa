#include "simgpu/native/compiler.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>
#include <vector>

extern char** environ;  // NOLINT: POSIX names it

namespace simgpu::native {
namespace {

using std::chrono::steady_clock;

constexpr const char* kCompiler = "g++";

/// Rounding as the engine's own files have it (simgpu/arith/CMakeLists.txt), for this processor.
std::vector<std::string> flags() {
  std::vector<std::string> all{"-std=c++20", "-O3",   "-march=native",      "-ffp-contract=off",
                               "-fPIC",      "-w",    "-fno-math-errno",    "-fno-trapping-math",
                               "-shared",    "-xc++", "-fvisibility=hidden"};
#if defined(__x86_64__)
  all.emplace_back("-mprefer-vector-width=512");
#endif
  return all;
}

/// Model and features: what -march=native looks at.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.starts_with("model") || line.starts_with("flags") || line.starts_with("vendor_id") ||
        line.starts_with("Features") || line.starts_with("CPU part")) {
      text += line + "\n";
    }
  }
  return text;
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void open(int descriptor, const char* path, int mode) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path, mode, 0600);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class GroupAttribute {
 public:
  GroupAttribute() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
  }
  ~GroupAttribute() { posix_spawnattr_destroy(&attributes_); }
  GroupAttribute(const GroupAttribute&) = delete;
  GroupAttribute& operator=(const GroupAttribute&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// Runs a command with little priority, and with bounds that its own children inherit: a minute of
/// processor time, 4 GiB. True when it succeeds.
bool run(const std::vector<std::string>& command, const char* output,
         const std::atomic<bool>& stop) {
  std::vector<std::string> words{"sh", "-c", "ulimit -t 60 -v 4194304; exec nice -n 10 \"$@\"",
                                 "sh"};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  FileActions files;
  files.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  files.open(STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC);
  files.open(STDERR_FILENO, "/dev/null", O_WRONLY);
  const GroupAttribute group;
  pid_t child = -1;
  if (posix_spawn(&child, "/bin/sh", files.get(), group.get(), arguments.data(), environ) != 0) {
    return false;
  }
  const auto deadline = steady_clock::now() + std::chrono::minutes(1);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (stop.load() || steady_clock::now() > deadline) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::optional<Compiler> Compiler::find(const std::atomic<bool>& stop) {
  std::string name = (std::filesystem::temp_directory_path() / "simgpu-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) return std::nullopt;
  close(file);
  const bool found = run({kCompiler, "--version"}, name.c_str(), stop);
  std::string version;
  std::ifstream output(name);
  for (std::string line; std::getline(output, line);) version += line + "\n";
  std::error_code ignored;
  std::filesystem::remove(name, ignored);
  if (!found || version.empty()) return std::nullopt;
  std::string identity = version;
  for (const std::string& flag : flags()) identity += flag + " ";
  return Compiler(identity + "\n" + processor());
}

bool Compiler::compile(const std::filesystem::path& source, const std::filesystem::path& object,
                       const std::atomic<bool>& stop) const {
  std::vector<std::string> command{kCompiler};
  for (const std::string& flag : flags()) command.push_back(flag);
  for (const std::string& word : {source.string(), std::string("-o"), object.string()}) {
    command.push_back(word);
  }
  return run(command, "/dev/null", stop);
}

}  // namespace simgpu::native
