#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "grader/sandbox/command.h"
#include "grader/sandbox/disk_usage.h"
#include "grader/sandbox/halt.h"
#include "grader/sandbox/hidden_files.h"
#include "grader/sandbox/layers.h"
#include "grader/sandbox/program_end.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {

/// One sandboxed program and the thread that starts it, reads its output, enforces its limits and
/// ends it. The thread is the parent: the program dies with it.
class Running {
 public:
  /// @throws SandboxError when the program cannot be started.
  Running(SandboxRequest request, const Layers& layers);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  bool finished(std::chrono::duration<double> patience);
  void kill();
  SandboxOutcome wait();
  Halt& halt() { return halt_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch();  // the thread
  void start_program();
  void confirm_start();
  void watch_until_end();
  void read_output();
  void read_bubblewrap_status();
  void read_report();
  void read_end();
  void check_clock();
  void check_usage();
  bool looks_closely() const;
  bool disk_exceeded();
  double counted_s() const;
  void hit(LimitHit limit);
  void judge_end();
  void end_orphans();
  void await_end();
  void clean_up();
  std::chrono::milliseconds next_check() const;

  SandboxRequest request_;
  Layers layers_;
  SandboxCommand command_;
  Descriptor output_;
  Descriptor output_writer_;
  Descriptor wake_;
  Supervisor supervisor_;
  ScratchMounts scratch_mounts_;
  HiddenFiles hidden_files_;        // when last looked at
  std::uint64_t driver_bytes_ = 0;  // likewise, where it matters
  pid_t namespace_root_ = 0;  // process 1 of the sandbox, by our numbers; 0 until bubblewrap tells
  std::string bubblewrap_text_;           // JSON lines so far
  std::optional<ProgramEnd> end_;         // of the program, or of bubblewrap around it
  bool is_supervisor_lost_ = false;       // it ended without a word
  bool is_inside_ = false;                // bubblewrap came as far as await_program
  std::optional<ProgramEnd> end_inside_;  // of the program in bubblewrap
  Halt halt_;
  Clock::time_point started_;
  Clock::time_point last_usage_check_;
  unsigned usage_checks_ = 0;
  bool must_end_ = false;  // a limit was hit, or somebody asked
  bool is_stuck_ = false;  // something was still there long after it had been killed
  SandboxOutcome outcome_;
  std::atomic<bool> kill_requested_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_or_failed_ = false;
  bool done_ = false;
  std::exception_ptr start_error_;
  std::exception_ptr end_error_;
  std::thread thread_;
};

}  // namespace rooflab
