#pragma once

#include "simgpu/codes/launch_status.h"
#include "simgpu/device/activity_log.h"
#include "simgpu/device/cuda_error.h"

namespace simgpu {

/// The error that a device keeps until it is reset: after it nothing runs.
class Fault {
 public:
  explicit Fault(ActivityLog& log) : log_(log) {}

  /// The first that was raised; CudaError::success when there was none.
  CudaError error() const { return error_; }
  bool is_raised() const { return error_ != CudaError::success; }
  void raise(CudaError error);
  /// As a GPU calls what a kernel has ended in.
  void raise(LaunchStatus status);
  void clear() { error_ = CudaError::success; }

 private:
  ActivityLog& log_;
  CudaError error_ = CudaError::success;
};

}  // namespace simgpu
