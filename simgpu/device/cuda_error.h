#pragma once

#include <cstdint>

namespace simgpu {

/// The error numbers of the CUDA runtime that the simulated GPU gives, as in NVIDIA's "CUDA Runtime
/// API", cudaError_t. They cross the connection as numbers.
enum class CudaError : std::int32_t {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization_error = 3,
  invalid_pitch_value = 12,
  invalid_symbol = 13,
  invalid_memcpy_direction = 21,
  invalid_device_function = 98,
  no_device = 100,
  invalid_device = 101,
  invalid_kernel_image = 200,
  no_kernel_image_for_device = 209,
  invalid_ptx = 218,
  invalid_resource_handle = 400,
  symbol_not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  assert_failed = 710,
  misaligned_address = 716,
  invalid_pc = 718,
  launch_failure = 719,
  cooperative_launch_too_large = 720,
  not_supported = 801,
  unknown = 999,
};

/// "cudaErrorInvalidValue".
const char* name_of(CudaError error);

}  // namespace simgpu
