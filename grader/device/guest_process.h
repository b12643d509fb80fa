#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/device/device.h"
#include "grader/guest/call_protocol.h"
#include "grader/posix/descriptor.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {

/// What a guest needs to be started.
struct GuestSetup {
  std::filesystem::path program;                    ///< rooflab-guest
  std::vector<std::string> wrapper = {};            ///< a program and its words that start it
  std::filesystem::path library = {};               ///< the built submission; empty: none
  std::vector<std::filesystem::path> library_path;  ///< directories for LD_LIBRARY_PATH
  std::vector<std::filesystem::path> read_only;     ///< what else it may read
  std::vector<std::filesystem::path> devices;       ///< nodes in /dev
  std::vector<InheritedDescriptor> descriptors;     ///< besides the call channel
  std::map<std::string, std::string> environment;
  std::chrono::duration<double> time_limit{60};
  std::chrono::duration<double> processor_time_limit{0};  ///< 0: none of its own
  bool sandbox = true;
};

/// The trusted side's hold on one guest: sends calls, believes nothing of what comes back.
class GuestProcess {
 public:
  /// @throws SandboxError
  explicit GuestProcess(const GuestSetup& setup);

  /// Lets the guest start the GPU and take what `next` needs of it, before any student code is
  /// loaded: what fails until then is nobody's fault but ours, and later its word is the student's.
  /// @throws DeviceError when it cannot.
  void prepare(const Call& next = {});

  /// Makes one call and waits for its reply, as long as the guest lives; its limits end it.
  /// @return nothing when the guest ended first, or sent something that is no reply.
  std::optional<Reply> call(const Call& call);
  /// The same, but waits no longer than that, by the clock. A guest that has not replied by then
  /// can only be ended.
  std::optional<Reply> call(const Call& call, std::chrono::duration<double> patience);

  /// Whether the last call was answered by something that is no reply.
  bool talked_nonsense() const { return nonsense_; }

  /// As SandboxedProcess has them; StoppedGuest calls them in pairs.
  bool stop() { return process_->stop(); }
  bool is_still() const { return process_->is_still(); }
  void go_on() { process_->go_on(); }

  /// Ends the guest and all its descendants. @throws SandboxError
  SandboxOutcome end();

  /// Says that no more calls come, and lets the guest and what wraps it end by themselves for so
  /// long. @throws SandboxError
  SandboxOutcome finish(double seconds);

 private:
  bool send(const std::string& line);
  std::optional<std::string> receive(std::chrono::steady_clock::time_point until);

  Descriptor channel_;
  std::optional<SandboxedProcess> process_;
  std::string pending_;
  bool nonsense_ = false;
};

/// Keeps a guest, and all that it started, from running for as long as this lives, so that nothing
/// works on what is prepared for its next call. What it left on the GPU runs on.
class StoppedGuest {
 public:
  explicit StoppedGuest(GuestProcess& guest) : guest_(guest), was_stopped_(guest.stop()) {}
  ~StoppedGuest() { let_go(); }
  StoppedGuest(const StoppedGuest&) = delete;
  StoppedGuest& operator=(const StoppedGuest&) = delete;

  /// Whether none of its processes has run since, as far as the kernel tells.
  bool is_still() const { return was_stopped_ && guest_.is_still(); }
  void let_go() {
    if (!std::exchange(is_over_, true)) guest_.go_on();
  }

 private:
  GuestProcess& guest_;
  bool was_stopped_;
  bool is_over_ = false;
};

/// What a guest can do of a call without the student's library.
Call preparation_for(Call call);

/// Why a guest cannot use the GPU, as it replied to that; empty when it can.
std::string objection_in(const Reply& reply);

/// Fills in how a run ended, from what the guest replied (if it did) and how its process ended.
void classify(const std::optional<Reply>& reply, bool talked_nonsense,
              const SandboxOutcome& process, RunOutcome& outcome);

}  // namespace rooflab
