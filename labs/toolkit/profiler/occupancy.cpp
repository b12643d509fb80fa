#include "labs/toolkit/profiler/occupancy.h"

#include <cuda_occupancy.h>

#include <algorithm>

#include "toolkit/check.h"

namespace rooflab {
namespace {

double blocks_of(const ProfiledEvent& kernel) {
  return 1.0 * kernel.grid[0] * kernel.grid[1] * kernel.grid[2];
}

cudaOccDeviceProp calculator_properties(const ProfiledDevice& device) {
  cudaOccDeviceProp properties;
  properties.computeMajor = device.compute_major;
  properties.computeMinor = device.compute_minor;
  properties.maxThreadsPerBlock = device.max_threads_per_block;
  properties.maxThreadsPerMultiprocessor = device.max_threads_per_multiprocessor;
  properties.regsPerBlock = device.registers_per_block;
  properties.regsPerMultiprocessor = device.registers_per_multiprocessor;
  properties.warpSize = device.warp_size;
  properties.sharedMemPerBlock = device.shared_bytes_per_block;
  properties.sharedMemPerMultiprocessor = device.shared_bytes_per_multiprocessor;
  properties.sharedMemPerBlockOptin = device.shared_bytes_per_block_optin;
  properties.reservedSharedMemPerBlock = device.reserved_shared_bytes_per_block;
  properties.numSms = device.multiprocessors;
  return properties;
}

}  // namespace

ProfiledDevice describe_device() {
  int number = 0;
  CUDA_CHECK(cudaGetDevice(&number));
  cudaDeviceProp from{};
  CUDA_CHECK(cudaGetDeviceProperties(&from, number));
  ProfiledDevice device;
  device.name = from.name;
  device.compute_major = from.major;
  device.compute_minor = from.minor;
  device.multiprocessors = from.multiProcessorCount;
  device.warp_size = from.warpSize;
  device.max_threads_per_block = from.maxThreadsPerBlock;
  device.max_threads_per_multiprocessor = from.maxThreadsPerMultiProcessor;
  device.registers_per_block = from.regsPerBlock;
  device.registers_per_multiprocessor = from.regsPerMultiprocessor;
  device.memory_bytes = from.totalGlobalMem;
  device.shared_bytes_per_block = from.sharedMemPerBlock;
  device.shared_bytes_per_block_optin = from.sharedMemPerBlockOptin;
  device.shared_bytes_per_multiprocessor = from.sharedMemPerMultiprocessor;
  device.reserved_shared_bytes_per_block = from.reservedSharedMemPerBlock;
  return device;
}

void estimate_occupancy(ProfiledEvent& kernel, const ProfiledDevice& device,
                        std::uint64_t static_shared_bytes) {
  const auto threads = static_cast<int>(kernel.block[0] * kernel.block[1] * kernel.block[2]);
  if (device.multiprocessors <= 0 || device.warp_size <= 0 || threads <= 0) return;
  kernel.blocks_per_sm = blocks_of(kernel) / device.multiprocessors;
  kernel.warps_per_sm = kernel.blocks_per_sm * threads / device.warp_size;

  const cudaOccDeviceProp properties = calculator_properties(device);
  const cudaOccDeviceState state;
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = device.max_threads_per_block;
  attributes.numRegs = static_cast<int>(kernel.registers_per_thread);
  attributes.sharedSizeBytes = static_shared_bytes;
  attributes.maxDynamicSharedSizeBytes = kernel.shared_bytes - static_shared_bytes;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  cudaOccResult result;
  const cudaOccError error =
      cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, threads,
                                              kernel.shared_bytes - static_shared_bytes);
  if (error != CUDA_OCC_SUCCESS) return;  // a GPU newer than the calculator
  const double resident =
      std::min<double>(result.activeBlocksPerMultiprocessor, kernel.blocks_per_sm);
  kernel.occupancy = std::min(1.0, resident * threads / device.max_threads_per_multiprocessor);
}

}  // namespace rooflab
