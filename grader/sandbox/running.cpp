#include "grader/sandbox/running.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "grader/sandbox/driver_memory.h"
#include "grader/sandbox/process_tree.h"

namespace rooflab {
namespace {

using namespace std::chrono_literals;

constexpr ProgramEnd kKilled{SIGKILL, 0};  // as a wait status, a signal is its number

void make_nonblocking(int descriptor) {
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

// First line of what bubblewrap printed about itself, for an error message.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The number after "key": in bubblewrap's status lines, or nothing. They come from bubblewrap
// alone.
std::optional<long> number_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find("\"" + key + "\": ");
  if (at == std::string::npos) {
    return std::nullopt;
  }
  return std::strtol(text.c_str() + at + key.size() + 4, nullptr, 10);
}

}  // namespace

Running::Running(SandboxRequest request, const Layers& layers)
    : request_(std::move(request)), layers_(layers), command_(make_command(request_, layers)) {
  int pipe_ends[2];
  wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid() || pipe2(pipe_ends, O_CLOEXEC) != 0) {
    throw SandboxError("cannot open a pipe for the sandbox: " + std::string(std::strerror(errno)) +
                       "; raise the limit on open files (ulimit -n)");
  }
  output_ = Descriptor(pipe_ends[0]);
  output_writer_ = Descriptor(pipe_ends[1]);
  make_nonblocking(output_.get());
  command_.plan.output = output_writer_.get();

  thread_ = std::thread([this] { watch(); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return started_or_failed_; });
  if (start_error_) {
    lock.unlock();
    thread_.join();
    std::rethrow_exception(start_error_);
  }
}

Running::~Running() {
  if (thread_.joinable()) {
    kill();
    thread_.join();
  }
}

bool Running::finished(std::chrono::duration<double> patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return done_; });
}

void Running::kill() {
  kill_requested_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

SandboxOutcome Running::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
  if (end_error_) {
    std::rethrow_exception(end_error_);
  }
  return outcome_;
}

void Running::watch() {
  try {
    start_program();
    confirm_start();
  } catch (...) {
    clean_up();
    const std::lock_guard lock(mutex_);
    start_error_ = std::current_exception();
    started_or_failed_ = true;
    changed_.notify_all();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    started_or_failed_ = true;
    changed_.notify_all();
  }
  std::exception_ptr error;
  try {
    watch_until_end();
  } catch (...) {
    error = std::current_exception();
  }
  clean_up();
  try {
    if (!error) {
      judge_end();
    }
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  end_error_ = error;
  done_ = true;
  changed_.notify_all();
}

void Running::start_program() {
  started_ = last_usage_check_ = Clock::now();
  supervisor_ = start_supervisor(command_.plan);
  output_writer_.reset();
  command_.status_writer.reset();
  command_.report_writer.reset();
  halt_.begin(supervisor_.pid, command_.control_groups ? &*command_.control_groups : nullptr);
}

void Running::confirm_start() {
  ChildFailure failure;
  ssize_t got = 0;
  do {
    got = read(supervisor_.failures.get(), &failure, sizeof(failure));
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(failure)) {
    failure.step[sizeof(failure.step) - 1] = '\0';
    throw SandboxError("the sandbox failed at " + std::string(failure.step) + " (" +
                       command_.plan.argv.front() + "): " + std::strerror(failure.error) +
                       "; check that the path can be reached by other users, or use --no-sandbox");
  }
}

void Running::watch_until_end() {
  while (!end_) {
    std::array<pollfd, 4> waits{{{output_.get(), POLLIN, 0},
                                 {supervisor_.ends.get(), POLLIN, 0},
                                 {command_.status_reader.get(), POLLIN, 0},
                                 {wake_.get(), POLLIN, 0}}};
    poll(waits.data(), waits.size(), static_cast<int>(next_check().count()));
    read_end();
    read_bubblewrap_status();
    read_output();
    check_clock();
    check_usage();
    if (kill_requested_ && !must_end_ && !end_) {
      outcome_.killed_by_us = true;
      must_end_ = true;
    }
    if (must_end_) {
      kill_descendants(supervisor_.pid);
      read_end();
      break;
    }
  }
}

void Running::read_end() {
  pollfd ready{supervisor_.ends.get(), POLLIN, 0};
  if (end_ || poll(&ready, 1, 0) <= 0) {
    return;
  }
  ProgramEnd end;
  if (read(supervisor_.ends.get(), &end, sizeof(end)) == sizeof(end)) {
    end_ = end;
    return;
  }
  if (!must_end_) {
    // Somebody with our own user id can kill the supervisor: its program cannot have ended well.
    is_supervisor_lost_ = true;
    end_ = kKilled;
  }
}

void Running::read_bubblewrap_status() {
  if (!command_.status_reader.valid()) {
    return;
  }
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = read(command_.status_reader.get(), buffer.data(), buffer.size())) > 0) {
    bubblewrap_text_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (got == 0) {
    command_.status_reader.reset();
  }
  if (namespace_root_ == 0) {
    namespace_root_ = static_cast<pid_t>(number_after(bubblewrap_text_, "child-pid").value_or(0));
  }
}

// What await_program wrote. A guest of the same user may write there too, at its own cost: once it
// runs, nothing that stands there is a fault of the sandbox.
void Running::read_report() {
  ProgramEnd record;
  while (command_.report_reader.valid() &&
         read(command_.report_reader.get(), &record, sizeof(record)) == sizeof(record)) {
    if (record.status == kStarted) {
      is_inside_ = true;
    } else if (!end_inside_) {
      end_inside_ = record;
    }
  }
}

void Running::read_output() {
  std::array<char, 65536> buffer;
  ssize_t got = 0;
  // A few reads at a time: endless output must not keep us from looking at the clock.
  for (int reads = 0; reads < 16 && output_.valid(); ++reads) {
    got = read(output_.get(), buffer.data(), buffer.size());
    if (got == 0) {
      output_.reset();
    }
    if (got <= 0) {
      return;
    }
    const std::uint64_t room = request_.limits.output_bytes - outcome_.output.size();
    const auto size = static_cast<std::uint64_t>(got);
    if (request_.limits.output_bytes > 0 && size > room) {
      outcome_.output.append(buffer.data(), room);
      hit(LimitHit::output);
      return;
    }
    outcome_.output.append(buffer.data(), size);
  }
}

/// The time that counts: what the program is stopped for does not, up to as long as its limit. Who
/// waits for something else meanwhile may wait for what only the program's end gives back.
double Running::counted_s() const {
  const std::chrono::duration<double> elapsed = Clock::now() - started_;
  return elapsed.count() - std::min(halt_.time_stopped().count(), request_.limits.wall_s);
}

void Running::check_clock() {
  if (!end_ && request_.limits.wall_s > 0 && counted_s() >= request_.limits.wall_s) {
    outcome_.time_limit_s = request_.limits.wall_s;
    hit(LimitHit::time);
  }
}

// Soon after the start, where things go wrong fast, then at a pace that costs nothing.
std::chrono::milliseconds Running::next_check() const {
  const auto pause = usage_checks_ < 20 ? 5ms : 20ms;
  if (request_.limits.wall_s <= 0) {
    return pause;
  }
  const std::chrono::duration<double> left(request_.limits.wall_s - counted_s());
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(left), 0ms, pause);
}

void Running::check_usage() {
  const auto now = Clock::now();
  if (now - last_usage_check_ < 4ms && !end_) {
    return;
  }
  last_usage_check_ = now;
  ++usage_checks_;
  const Limits& limits = request_.limits;
  const std::vector<pid_t> processes = descendants(supervisor_.pid);
  const TreeUsage usage = usage_of(processes);
  if (looks_closely()) hidden_files_ = hidden_files_of(processes);
  const std::uint64_t own =
      usage.anonymous_bytes + std::max(usage.shared_bytes, hidden_files_.memory_bytes);
  // Most of a program's files is program text, which costs nobody anything.
  const bool may_exceed = limits.memory_bytes > 0 && own + usage.file_bytes > limits.memory_bytes;
  if (looks_closely()) driver_bytes_ = may_exceed ? driver_memory_of(processes) : 0;
  const std::uint64_t memory = own + driver_bytes_;
  if ((command_.control_groups && command_.control_groups->memory_exceeded()) ||
      (limits.memory_bytes > 0 && memory > limits.memory_bytes)) {
    hit(LimitHit::memory);
  }
  // Ours are in the tree, but not in the count that the kernel limits.
  const std::uint64_t overhead = namespace_root_ != 0 ? kBubblewrapProcesses : 0;
  if ((limits.processes > 0 && usage.threads >= limits.processes + overhead) ||
      (command_.control_groups && command_.control_groups->processes_exceeded())) {
    hit(LimitHit::processes);
  }
  if (disk_exceeded()) {
    hit(LimitHit::disk);
  }
}

// Walking folders and lists of open files costs more than the rest.
bool Running::looks_closely() const { return usage_checks_ % 4 == 1 || end_; }

bool Running::disk_exceeded() {
  const Limits& limits = request_.limits;
  if (limits.disk_bytes == 0) {
    return false;
  }
  if (namespace_root_ != 0) {
    scratch_mounts_.open(namespace_root_, limits.disk_bytes);
  }
  if (scratch_mounts_.full(limits.disk_files)) {
    return true;
  }
  if (hidden_files_.disk_bytes > limits.disk_bytes) {
    return true;
  }
  if (!looks_closely()) {
    return false;
  }
  const std::uint64_t most_files = limits.disk_files > 0 ? limits.disk_files : UINT64_MAX - 1;
  return std::any_of(command_.watched.begin(), command_.watched.end(), [&](const auto& directory) {
    const DiskUsage usage = usage_beneath(directory, most_files);
    return usage.bytes > limits.disk_bytes || usage.files > most_files;
  });
}

void Running::hit(LimitHit limit) {
  if (outcome_.limit == LimitHit::none && !outcome_.killed_by_us) {
    outcome_.limit = limit;
  }
  must_end_ = true;
}

// Nobody reaps what a lost supervisor leaves. The kernel ends most of it, but not a bubblewrap that
// waits for its own parent, which died on the way. All of them hold the output.
void Running::end_orphans() {
  const auto end = Clock::now() + 2s;
  while (output_.valid() && Clock::now() < end) {
    kill_writers(output_.get());
    pollfd open{output_.get(), POLLIN, 0};
    poll(&open, 1, 20);
    read_output();
  }
}

// The supervisor leaves when nobody is left. A killed process is there until the kernel has closed
// its files: a driver takes seconds for that where a GPU is busy. Until then its memory, pool and
// lock are not ours to give to the next.
void Running::await_end() {
  const auto patience =
      Clock::now() + std::chrono::duration<double>(std::max(request_.limits.end_s, 0.0));
  for (int attempt = 1; waitpid(supervisor_.pid, nullptr, WNOHANG) == 0; ++attempt) {
    if (Clock::now() > patience) {
      is_stuck_ = true;
      ::kill(supervisor_.pid, SIGKILL);
    } else if (attempt % 10 == 0) {
      kill_descendants(supervisor_.pid);
    }
    usleep(2000);
  }
}

// Ends and reaps everything, whatever state things are in.
void Running::clean_up() {
  halt_.end();
  if (supervisor_.pid > 0) {
    kill_descendants(supervisor_.pid);
    read_output();
    await_end();
    supervisor_.pid = -1;
    read_bubblewrap_status();
    read_report();
    read_output();
    if (is_supervisor_lost_) end_orphans();
  }
  outcome_.wall_s = std::chrono::duration<double>(Clock::now() - started_).count();
  command_.control_groups.reset();
  command_.scratch.remove();
}

// Turns the wait status into an outcome.
void Running::judge_end() {
  if (is_stuck_) {
    throw SandboxError("a process of the sandbox was still there " +
                       std::to_string(std::lround(request_.limits.end_s)) +
                       " s after it had been killed, as when a driver does not come to an end; "
                       "look for a fault with `dmesg`, and restart the machine if it stays");
  }
  if (outcome_.limit != LimitHit::none || outcome_.killed_by_us) {
    outcome_.signal = SIGKILL;
    return;
  }
  ProgramEnd end = end_.value_or(kKilled);
  if (layers_.bubblewrap != Layers::Bubblewrap::none) {
    if (is_supervisor_lost_) {  // nothing in there can reach it
      throw SandboxError(
          "a process that watches over the program was killed from outside of its sandbox, as it "
          "is where the machine runs out of memory; run it again");
    }
    if (!is_inside_) {
      throw SandboxError("bubblewrap failed: " + first_line(outcome_.output) +
                         "; run `bwrap --ro-bind / / true` to see why, or use --no-sandbox");
    }
    end = end_inside_.value_or(kKilled);  // the guest can end all of the sandbox at once
  }
  if (WIFSIGNALED(end.status)) {
    outcome_.signal = WTERMSIG(end.status);
  } else {
    outcome_.exit_code = WEXITSTATUS(end.status);
  }
  // A program that ignores SIGXCPU is killed by the kernel a second later, which looks like any
  // SIGKILL.
  const double cpu_s = static_cast<double>(end.cpu_us) / 1e6;
  const bool out_of_cpu =
      outcome_.signal == SIGXCPU ||
      (outcome_.signal == SIGKILL && request_.limits.cpu_s > 0 && cpu_s >= request_.limits.cpu_s);
  if (out_of_cpu) {
    outcome_.limit = LimitHit::time;
    outcome_.time_limit_s = request_.limits.cpu_s;
    outcome_.used_processor = true;
  } else if (outcome_.signal == SIGXFSZ) {
    outcome_.limit = LimitHit::disk;
  }
}

}  // namespace rooflab
