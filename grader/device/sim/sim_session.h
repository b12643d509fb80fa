#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/device/device.h"
#include "grader/device/guest_process.h"
#include "grader/device/open_device.h"
#include "simgpu/device/device_process.h"
#include "specs/gpu_spec.h"

namespace rooflab {

/// A simulation takes as long as the machine has time for it. A loop on the host ends by the
/// processor time that it takes, one in a kernel by its instructions; the clock on the wall only
/// ends a function that waits for ever, and has to leave right ones alone where others are at work,
/// too.
inline constexpr double kOnABusyMachine = 3;

/// Whether calls of variants are made of a request, which is not one of a part of the work.
bool makes_variants(const RunRequest& request);

/// What all of them may take by the clock, of the device and of the host's code, on a busy machine.
std::chrono::duration<double> time_for_variants(const RunRequest& request);

/// A simulated GPU that holds the tensors of a problem, and a guest that is ready to call the
/// library's functions with them.
class SimSession {
 public:
  /// All of these outlive the session. @throws DeviceError, SandboxError,
  /// simgpu::DeviceProcessError
  SimSession(const DeviceOptions& options, const gpu_spec::GpuSpec& gpu, const RunRequest& request);

  simgpu::DeviceProcess& device() { return *device_; }
  const simgpu::DeviceProcess& device() const { return *device_; }
  GuestProcess& guest() { return *guest_; }
  /// Of the tensors of the request's problem.
  const std::vector<std::uint64_t>& addresses() const { return addresses_; }

  /// Ends the guest and starts another one, which knows nothing of what that did; the tensors stay.
  /// @returns what the old one printed
  std::string replace_guest();
  /// The same with another device.
  std::string replace_device();

 private:
  void start_device();
  void start_guest();

  const DeviceOptions& options_;
  const gpu_spec::GpuSpec& gpu_;
  const RunRequest& request_;
  std::vector<std::uint64_t> addresses_;
  bool knows_library_ = false;  ///< the device
  std::optional<simgpu::DeviceProcess> device_;
  std::optional<GuestProcess> guest_;
};

}  // namespace rooflab
