#include "simgpu/device/guest_properties.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace simgpu {

protocol::Properties properties_of(const gpu_spec::GpuSpec& gpu) {
  protocol::Properties properties;
  const std::string name = "simulated " + gpu.name;
  std::copy_n(name.begin(), std::min(name.size(), properties.name.size() - 1),
              properties.name.begin());
  properties.global_bytes = gpu.dram_bytes;
  properties.l2_bytes = gpu.l2_bytes;
  properties.major = gpu.compute_capability_major;
  properties.minor = gpu.compute_capability_minor;
  properties.multiprocessors = gpu.sm_count;
  properties.clock_khz = static_cast<std::int32_t>(gpu.clock_mhz * 1000);
  properties.memory_clock_khz = static_cast<std::int32_t>(gpu.memory_clock_mhz * 1000);
  if (gpu.memory_clock_mhz > 0) {
    // bytes/s = clock x 2 transfers x bus bytes: the bus width that the quoted bandwidth implies.
    const double bits = gpu.dram_bytes_per_second * 8 / (gpu.memory_clock_mhz * 1e6 * 2);
    properties.memory_bus_bits = static_cast<std::int32_t>(std::lround(bits / 32) * 32);
  }
  properties.threads_per_multiprocessor = gpu.max_threads_per_sm;
  properties.blocks_per_multiprocessor = gpu.max_blocks_per_sm;
  properties.registers_per_multiprocessor = gpu.registers_per_sm;
  properties.shared_per_block = gpu.shared_bytes_per_block;
  properties.shared_per_block_optin = gpu.shared_bytes_per_block_optin;
  properties.shared_per_multiprocessor = gpu.shared_bytes_per_sm;
  properties.reserved_shared_per_block = gpu.reserved_shared_bytes_per_block;
  properties.threads_per_block = gpu.max_threads_per_block;
  if (gpu.fp64_lanes_per_sm > 0) {
    properties.single_to_double_ratio = gpu.fp32_lanes_per_sm / gpu.fp64_lanes_per_sm;
  }
  return properties;
}

}  // namespace simgpu
