#include "simgpu/device/fault.h"

namespace simgpu {
namespace {

CudaError error_of(LaunchStatus status) {
  switch (status) {
    case LaunchStatus::ok:
      return CudaError::success;
    case LaunchStatus::illegal_address:
      return CudaError::illegal_address;
    case LaunchStatus::misaligned_address:
      return CudaError::misaligned_address;
    case LaunchStatus::assert_failed:
      return CudaError::assert_failed;
    case LaunchStatus::trap:
      return CudaError::launch_failure;
    case LaunchStatus::launch_timeout:
      return CudaError::launch_timeout;
    case LaunchStatus::launch_failure:
      return CudaError::launch_failure;
    case LaunchStatus::stack_overflow:
      return CudaError::illegal_address;  // as an H200 says it, not cudaErrorHardwareStackError
    case LaunchStatus::invalid_program_counter:
      return CudaError::invalid_pc;
    case LaunchStatus::unsupported:
      return CudaError::not_supported;
  }
  return CudaError::unknown;
}

}  // namespace

void Fault::raise(CudaError error) {
  if (error_ == CudaError::success) error_ = error;
  log_.set_error(name_of(error));
}

void Fault::raise(LaunchStatus status) { raise(error_of(status)); }

}  // namespace simgpu
