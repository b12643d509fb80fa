#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/// Runs programs that nobody vouches for: with few rights, within limits, and without survivors.
namespace rooflab {

/// The sandbox itself failed (never the program in it): what happened, and what to do about it.
class SandboxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bounds on one sandboxed program and everything it starts. Zero means unlimited.
struct Limits {
  double wall_s = 60;                       ///< elapsed time, kept by a clock outside
  double cpu_s = 0;                         ///< CPU time of any one process, rounded up
  std::uint64_t memory_bytes = 4ULL << 30;  ///< resident, all processes together
  std::uint64_t address_space_bytes = 0;    ///< of any one process (RLIMIT_AS)
  std::uint64_t output_bytes = 1ULL << 20;  ///< stdout and stderr together
  std::uint64_t disk_bytes = 256ULL
                             << 20;   ///< in /tmp, /dev/shm and the writable directories, each
  std::uint64_t disk_files = 20'000;  ///< number of files, likewise
  std::uint64_t file_bytes = 256ULL << 20;  ///< of any one file
  std::uint64_t processes = 128;            ///< and threads
  std::uint64_t open_files = 256;
  /// How long what was killed may take to go, as it does while a driver cleans up after it. What
  /// is there longer is a fault of the machine.
  double end_s = 30;
};

/// A directory of the host that the program may write to, seen as `inside`.
struct WritableDirectory {
  std::filesystem::path host;
  std::filesystem::path
      inside;  ///< without bubblewrap this must equal `host`; empty means the same path
};

/// A descriptor of ours that the program gets under the number `inside`.
struct InheritedDescriptor {
  int descriptor = -1;
  int inside = -1;
};

struct SandboxRequest {
  std::vector<std::string> argv;  ///< argv[0] is an absolute path or found in `PATH`
  std::filesystem::path
      working_directory;  ///< seen from inside; empty: a private scratch directory
  std::vector<std::filesystem::path>
      read_only;  ///< seen under the same path; missing ones are an error
  std::vector<WritableDirectory> writable;
  std::vector<std::filesystem::path> devices;    ///< device nodes, such as /dev/nvidia0
  std::vector<InheritedDescriptor> descriptors;  ///< stdin is /dev/null; nothing else is inherited
  std::map<std::string, std::string>
      environment;  ///< all of it; PATH, HOME, TMPDIR and LANG have defaults
  Limits limits;
  bool enabled = true;  ///< false (`--no-sandbox`): only rlimits, output caps and the watchdog
  bool allow_bubblewrap = true;  ///< false: the fallback layers, even where bubblewrap works
};

enum class LimitHit : std::uint8_t { none, time, memory, output, disk, processes };
/// "time", "memory" …
const char* name_of(LimitHit limit);

/// How a sandboxed program ended. Everything in it came from the program: untrusted.
struct SandboxOutcome {
  int exit_code = 0;  ///< when signal is 0
  int signal = 0;     ///< that ended it; SIGKILL when a limit was hit
  LimitHit limit = LimitHit::none;
  double time_limit_s = 0;      ///< the one that was hit, of the clock or of the processor
  bool used_processor = false;  ///< that of the processor
  std::string output;           ///< stdout and stderr as they came, at most output_bytes
  double wall_s = 0;
  bool killed_by_us = false;  ///< by SandboxedProcess::kill
};

/// A running sandboxed program, watched by a thread of ours that enforces the limits.
class SandboxedProcess {
 public:
  /// @throws SandboxError when the sandbox cannot be set up.
  static SandboxedProcess start(const SandboxRequest& request);
  ~SandboxedProcess();  ///< kills what still runs
  SandboxedProcess(SandboxedProcess&&) noexcept;
  SandboxedProcess& operator=(SandboxedProcess&&) noexcept;

  /// Whether it has ended, with all its descendants; waits up to `seconds` for that.
  bool finished(double seconds = 0);
  /// Ends it and all its descendants by SIGKILL; wait() tells how far it had come.
  void kill();
  /// Keeps all of it from running until go_on(): by the kernel's freezer, or by SIGSTOP. The time
  /// does not count towards the limit of elapsed time, up to as long as that. It can be killed.
  /// @return whether none of it can run any more, within a second; go_on() is needed anyway
  bool stop();
  /// Whether none of it ran since stop(), as far as the kernel tells: a timer of its own may
  /// continue a process that was stopped.
  bool is_still() const;
  void go_on();
  /// Waits for the end, which the limits guarantee. @throws SandboxError when the sandbox failed.
  SandboxOutcome wait();

 private:
  struct State;
  explicit SandboxedProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// start() and wait() in one.
SandboxOutcome run_sandboxed(const SandboxRequest& request);

/// Path of bubblewrap, empty when it is not installed.
std::filesystem::path bubblewrap_program();

/// The layers that a run on this machine gets, strongest first: "bubblewrap", "own uid", "no
/// network", "seccomp", "landlock", "control groups", "rlimits", "watchdog". Probed once per
/// process. @throws SandboxError where too few files may be open for any of them
std::vector<std::string> active_layers(bool enabled = true);

/// Whether these layers keep a program away from the host's files and from other programs: limits
/// alone do not.
bool isolates(const std::vector<std::string>& layers);

}  // namespace rooflab
