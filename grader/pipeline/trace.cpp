#include "grader/pipeline/trace.h"

#include <algorithm>
#include <utility>

#include "labs/toolkit/profiler/chrome_trace.h"

namespace rooflab {
namespace {

using Kind = ProfiledEvent::Kind;

ProfiledDevice device_of(const gpu_spec::GpuSpec& gpu) {
  ProfiledDevice device;
  device.name = gpu.name;
  device.compute_major = gpu.compute_capability_major;
  device.compute_minor = gpu.compute_capability_minor;
  device.multiprocessors = gpu.sm_count;
  device.max_threads_per_block = gpu.max_threads_per_block;
  device.max_threads_per_multiprocessor = gpu.max_threads_per_sm;
  device.registers_per_block = device.registers_per_multiprocessor = gpu.registers_per_sm;
  device.memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(gpu.dram_bytes, 0));
  const auto bytes = [](int shared) { return static_cast<std::uint64_t>(std::max(shared, 0)); };
  device.shared_bytes_per_block = bytes(gpu.shared_bytes_per_block);
  device.shared_bytes_per_block_optin = bytes(gpu.shared_bytes_per_block_optin);
  device.shared_bytes_per_multiprocessor = bytes(gpu.shared_bytes_per_sm);
  device.reserved_shared_bytes_per_block = bytes(gpu.reserved_shared_bytes_per_block);
  return device;
}

ProfiledEvent event_of(Kind kind, const std::string& name, double start_us, double duration_us,
                       std::uint64_t correlation) {
  ProfiledEvent event;
  event.kind = kind;
  event.name = name;
  event.start_us = start_us;
  event.duration_us = duration_us;
  event.correlation = correlation;
  return event;
}

/// Blocks and warps of the grid for each multiprocessor, and the threads resident on one.
void fill_in_occupancy(ProfiledEvent& event, unsigned resident_blocks,
                       const ProfiledDevice& device) {
  if (device.multiprocessors <= 0 || device.max_threads_per_multiprocessor <= 0) return;
  const double blocks = 1.0 * event.grid[0] * event.grid[1] * event.grid[2];
  const double threads = 1.0 * event.block[0] * event.block[1] * event.block[2];
  event.blocks_per_sm = blocks / device.multiprocessors;
  event.warps_per_sm = event.blocks_per_sm * threads / device.warp_size;
  const double resident = std::min<double>(resident_blocks, event.blocks_per_sm);
  event.occupancy = std::min(1.0, resident * threads / device.max_threads_per_multiprocessor);
}

ProfiledEvent event_of(const simgpu::KernelRecord& kernel, const ProfiledDevice& device) {
  ProfiledEvent event = event_of(Kind::kernel, kernel.name, kernel.start_us, kernel.time.total_us,
                                 kernel.correlation);
  event.stream = kernel.stream;
  event.graph = kernel.graph_launch;
  event.grid = {kernel.grid.x, kernel.grid.y, kernel.grid.z};
  event.block = {kernel.block.x, kernel.block.y, kernel.block.z};
  event.registers_per_thread = kernel.registers_per_thread;
  event.shared_bytes =
      std::uint64_t{kernel.static_shared_bytes} + std::uint64_t{kernel.dynamic_shared_bytes};
  if (kernel.time.limiter) event.limiter = simgpu::name_of(*kernel.time.limiter);
  for (const auto& [type, count] : kernel.counters.flops) event.flops += static_cast<double>(count);
  event.dram_bytes = static_cast<double>(kernel.counters.dram_read_bytes) +
                     static_cast<double>(kernel.counters.dram_write_bytes);
  fill_in_occupancy(event, kernel.blocks_per_sm, device);
  return event;
}

ProfiledEvent event_of(const simgpu::MemoryRecord& record) {
  const bool is_copy = record.operation != simgpu::MemoryOperation::set;
  ProfiledEvent event =
      event_of(is_copy ? Kind::copy : Kind::memset, simgpu::name_of(record.operation),
               record.start_us, record.time_us, record.correlation);
  event.stream = record.stream;
  event.graph = record.graph_launch;
  event.bytes = record.bytes;
  return event;
}

}  // namespace

TraceLog::TraceLog(const gpu_spec::GpuSpec& gpu) : device_(device_of(gpu)) {}

void TraceLog::add(const std::string& run, const simgpu::Activity& activity) {
  Profile profile;
  profile.name = run;
  profile.device = device_;
  profile.modelled = true;  // a device that keeps records is a simulated one
  for (const simgpu::ApiRecord& call : activity.calls) {
    profile.events.push_back(
        event_of(Kind::api, call.name, call.start_us, call.time_us, call.correlation));
  }
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    profile.events.push_back(event_of(kernel, device_));
  }
  for (const simgpu::MemoryRecord& record : activity.memory) {
    profile.events.push_back(event_of(record));
  }
  runs_.push_back(std::move(profile));
}

std::string TraceLog::to_json() const { return chrome_trace(runs_); }

}  // namespace rooflab
