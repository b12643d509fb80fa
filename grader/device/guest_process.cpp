#include "grader/device/guest_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace rooflab {
namespace {

/// Longer than any limit, and no overflow when it is added to now.
constexpr std::chrono::duration<double> kForEver{1e9};

std::string joined(const std::vector<std::filesystem::path>& directories) {
  std::string result;
  for (const auto& directory : directories) {
    if (!result.empty()) {
      result += ':';
    }
    result += directory.string();
  }
  return result;
}

SandboxRequest request_for(const GuestSetup& setup, int channel) {
  SandboxRequest request;
  request.argv = setup.wrapper;
  request.argv.push_back(setup.program.string());
  request.read_only = {setup.program};
  if (!setup.library.empty()) request.read_only.push_back(setup.library);
  request.read_only.insert(request.read_only.end(), setup.library_path.begin(),
                           setup.library_path.end());
  request.read_only.insert(request.read_only.end(), setup.read_only.begin(), setup.read_only.end());
  request.devices = setup.devices;
  request.descriptors = setup.descriptors;
  request.descriptors.push_back({channel, kCallDescriptor});
  request.environment = setup.environment;
  request.environment["LD_LIBRARY_PATH"] = joined(setup.library_path);
  request.limits.wall_s = setup.time_limit.count();
  request.limits.cpu_s = setup.processor_time_limit.count();
  request.enabled = setup.sandbox;
  return request;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  const char* text = sigdescr_np(number);
  if (name == nullptr || text == nullptr) {
    return "signal " + std::to_string(number);
  }
  return std::string("SIG") + name + " (" + text + ")";
}

RunOutcome::End end_of(LimitHit limit) {
  switch (limit) {
    case LimitHit::time:
      return RunOutcome::End::time_limit;
    case LimitHit::memory:
      return RunOutcome::End::memory_limit;
    case LimitHit::output:
      return RunOutcome::End::output_limit;
    case LimitHit::disk:
      return RunOutcome::End::disk_limit;
    case LimitHit::processes:
    case LimitHit::none:
      break;
  }
  return RunOutcome::End::killed;
}

RunOutcome::End end_of(Reply::Status status) {
  switch (status) {
    case Reply::Status::returned:
      return RunOutcome::End::returned;
    case Reply::Status::not_implemented:
      return RunOutcome::End::not_implemented;
    case Reply::Status::out_of_memory:
      return RunOutcome::End::memory_limit;
    case Reply::Status::too_long:
      return RunOutcome::End::output_limit;
    case Reply::Status::exception:
    case Reply::Status::not_loaded:
      break;
  }
  return RunOutcome::End::exception;
}

}  // namespace

GuestProcess::GuestProcess(const GuestSetup& setup) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw SandboxError(std::string("no socket for the guest: ") + strerror(errno) +
                       "; raise the limit on open files (ulimit -n)");
  }
  channel_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  process_.emplace(SandboxedProcess::start(request_for(setup, theirs.get())));
}

bool GuestProcess::send(const std::string& line) {
  std::size_t done = 0;
  while (done < line.size()) {
    // Never waits for a guest that does not read: its own end is noticed below, by the watchdog's
    // clock.
    const ssize_t wrote =
        ::send(channel_.get(), line.data() + done, line.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
      continue;
    }
    if (errno == EAGAIN) {
      pollfd ready{channel_.get(), POLLOUT, 0};
      poll(&ready, 1, 20);
      if (!process_->finished()) {
        continue;
      }
    } else if (errno == EINTR) {
      continue;
    }
    return false;
  }
  return true;
}

std::optional<std::string> GuestProcess::receive(std::chrono::steady_clock::time_point until) {
  std::size_t seen = 0;  // without a line's end
  for (;;) {
    if (const std::size_t end = pending_.find('\n', seen); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (pending_.size() > kMaxReplyBytes) {
      nonsense_ = true;
      return std::nullopt;
    }
    seen = pending_.size();
    const bool last_look = process_->finished() || std::chrono::steady_clock::now() >= until;
    pollfd ready{channel_.get(), POLLIN, 0};
    poll(&ready, 1, last_look ? 0 : 50);
    std::array<char, 65536> buffer;
    const ssize_t got = recv(channel_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      pending_.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      // The guest closed the channel: it ended, or soon does, or the time limit ends it.
      while (!process_->finished(1)) {
      }
      return std::nullopt;
    } else if (last_look) {
      return std::nullopt;
    }
  }
}

Call preparation_for(Call call) {
  call.library.clear();
  call.entry.clear();
  return call;
}

std::string objection_in(const Reply& reply) {
  return reply.cuda_error.empty() ? ""
                                  : "the guest process cannot use the GPU: " + reply.cuda_error;
}

void GuestProcess::prepare(const Call& next) {
  const std::optional<Reply> reply = call(preparation_for(next));
  if (!reply) {
    const SandboxOutcome outcome = end();
    throw DeviceError("the guest process ended before it ran anything (" +
                      (outcome.limit == LimitHit::none
                           ? "exit code " + std::to_string(outcome.exit_code)
                           : std::string(name_of(outcome.limit)) + " limit") +
                      "): " + outcome.output.substr(0, 500));
  }
  if (const std::string objection = objection_in(*reply); !objection.empty()) {
    throw DeviceError(objection +
                      "; try --no-sandbox to see whether the sandbox keeps it from the device");
  }
}

std::optional<Reply> GuestProcess::call(const Call& call) {
  return this->call(call, kForEver);
}

std::optional<Reply> GuestProcess::call(const Call& call, std::chrono::duration<double> patience) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  nonsense_ = false;
  if (!send(encode(call) + '\n')) {
    return std::nullopt;
  }
  const std::optional<std::string> line = receive(until);
  if (!line) {
    return std::nullopt;
  }
  std::optional<Reply> reply = decode_reply(*line);
  nonsense_ = !reply;
  return reply;
}

SandboxOutcome GuestProcess::end() {
  process_->kill();
  return process_->wait();
}

SandboxOutcome GuestProcess::finish(double seconds) {
  shutdown(channel_.get(), SHUT_WR);
  if (process_->finished(seconds)) return process_->wait();
  return end();
}

void classify(const std::optional<Reply>& reply, bool talked_nonsense,
              const SandboxOutcome& process, RunOutcome& outcome) {
  outcome.printed = process.output;
  if (process.limit != LimitHit::none) {
    outcome.end = end_of(process.limit);
    if (process.limit == LimitHit::processes) {
      outcome.detail = "the grader: it started too many processes";
      outcome.killer.too_many_processes = true;
    } else if (process.limit == LimitHit::time) {
      outcome.detail = process.used_processor
                           ? fmt::format(
                                 "the host's code computed for {:.0f} s, and had not "
                                 "come to an end",
                                 process.time_limit_s)
                           : fmt::format("no result after {:.0f} s", process.time_limit_s);
    }
  } else if (reply) {
    outcome.end = end_of(reply->status);
    outcome.detail = reply->detail;
    outcome.thrown = reply->thrown;
    outcome.cuda_error = reply->cuda_error;
    outcome.results = reply->results;
    if (reply->status == Reply::Status::not_loaded) {
      outcome.detail = "the library could not be loaded: " + reply->detail;
    } else if (reply->status == Reply::Status::too_long) {
      outcome.detail = "what the function made is longer than the limit of 1 MiB for a file";
    }
  } else if (talked_nonsense) {
    outcome.end = RunOutcome::End::exited;
    outcome.detail = "its reply could not be understood";
  } else if (process.signal != 0 && !process.killed_by_us) {
    outcome.end = RunOutcome::End::killed;
    outcome.detail = signal_name(process.signal);
    outcome.killer.signal = process.signal;
  } else {
    outcome.end = RunOutcome::End::exited;
    outcome.detail = "exit code " + std::to_string(process.exit_code);
  }
}

}  // namespace rooflab
