#include "simgpu/device/cuda_error.h"

namespace simgpu {

const char* name_of(CudaError error) {
  switch (error) {
    case CudaError::success:
      return "cudaSuccess";
    case CudaError::invalid_value:
      return "cudaErrorInvalidValue";
    case CudaError::memory_allocation:
      return "cudaErrorMemoryAllocation";
    case CudaError::initialization_error:
      return "cudaErrorInitializationError";
    case CudaError::invalid_pitch_value:
      return "cudaErrorInvalidPitchValue";
    case CudaError::invalid_symbol:
      return "cudaErrorInvalidSymbol";
    case CudaError::invalid_memcpy_direction:
      return "cudaErrorInvalidMemcpyDirection";
    case CudaError::invalid_device_function:
      return "cudaErrorInvalidDeviceFunction";
    case CudaError::no_device:
      return "cudaErrorNoDevice";
    case CudaError::invalid_device:
      return "cudaErrorInvalidDevice";
    case CudaError::invalid_kernel_image:
      return "cudaErrorInvalidKernelImage";
    case CudaError::no_kernel_image_for_device:
      return "cudaErrorNoKernelImageForDevice";
    case CudaError::invalid_ptx:
      return "cudaErrorInvalidPtx";
    case CudaError::invalid_resource_handle:
      return "cudaErrorInvalidResourceHandle";
    case CudaError::symbol_not_found:
      return "cudaErrorSymbolNotFound";
    case CudaError::not_ready:
      return "cudaErrorNotReady";
    case CudaError::illegal_address:
      return "cudaErrorIllegalAddress";
    case CudaError::launch_out_of_resources:
      return "cudaErrorLaunchOutOfResources";
    case CudaError::launch_timeout:
      return "cudaErrorLaunchTimeout";
    case CudaError::assert_failed:
      return "cudaErrorAssert";
    case CudaError::misaligned_address:
      return "cudaErrorMisalignedAddress";
    case CudaError::invalid_pc:
      return "cudaErrorInvalidPc";
    case CudaError::launch_failure:
      return "cudaErrorLaunchFailure";
    case CudaError::cooperative_launch_too_large:
      return "cudaErrorCooperativeLaunchTooLarge";
    case CudaError::not_supported:
      return "cudaErrorNotSupported";
    case CudaError::unknown:
      return "cudaErrorUnknown";
  }
  return "cudaErrorUnknown";
}

}  // namespace simgpu
