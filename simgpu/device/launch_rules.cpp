#include "simgpu/device/launch_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace simgpu {
namespace {

constexpr std::uint32_t kMaxGridX = 2'147'483'647;
constexpr std::uint32_t kMaxGridYZ = 65'535;
constexpr std::uint32_t kMaxBlockZ = 64;

std::string text_of(const Dim3& size) {
  return fmt::format("({}, {}, {})", size.x, size.y, size.z);
}

LaunchVerdict refuse(CudaError error, std::string reason) { return {error, std::move(reason)}; }

LaunchVerdict judge_sizes(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu) {
  const Dim3& grid = shape.grid;
  const Dim3& block = shape.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
    return refuse(CudaError::invalid_value,
                  fmt::format("grid {} and block {} must not have a zero; a division that rounds "
                              "down is the usual cause",
                              text_of(grid), text_of(block)));
  }
  const auto most = static_cast<std::uint64_t>(gpu.max_threads_per_block);
  if (block.x > most || block.y > most || block.z > kMaxBlockZ || block.count() > most) {
    return refuse(
        CudaError::invalid_value,
        fmt::format("a block of {} is {} threads; a block holds at most {} threads and is "
                    "at most {} deep in z",
                    text_of(block), block.count(), most, kMaxBlockZ));
  }
  if (grid.x > kMaxGridX || grid.y > kMaxGridYZ || grid.z > kMaxGridYZ) {
    return refuse(CudaError::invalid_value,
                  fmt::format("a grid of {} is too large: at most {} blocks in x, {} in y and z",
                              text_of(grid), kMaxGridX, kMaxGridYZ));
  }
  return {};
}

/// A GPU sets the local memory of a launch aside for every thread that it can hold at once.
LaunchVerdict judge_local_memory(const LoadedKernel& kernel, std::uint64_t stack_bytes,
                                 const gpu_spec::GpuSpec& gpu) {
  const std::uint64_t local_bytes = kernel.info->local_bytes_per_thread;
  const auto threads =
      static_cast<std::uint64_t>(gpu.sm_count) * static_cast<std::uint64_t>(gpu.max_threads_per_sm);
  if ((local_bytes + stack_bytes) * threads <= static_cast<std::uint64_t>(gpu.dram_bytes)) {
    return {};
  }
  return refuse(CudaError::memory_allocation,
                fmt::format("{} bytes of local memory and {} of stack for each of the {} threads "
                            "that the GPU holds at once are more than its memory of {} bytes",
                            local_bytes, stack_bytes, threads, gpu.dram_bytes));
}

}  // namespace

LaunchShape shape_of(const LoadedKernel& kernel, Dim3 grid, Dim3 block,
                     unsigned dynamic_shared_bytes) {
  return {.grid = grid,
          .block = block,
          .registers_per_thread = kernel.registers,
          .static_shared_bytes = kernel.static_shared_bytes,
          .dynamic_shared_bytes = dynamic_shared_bytes};
}

std::string beyond_shared_memory(const LoadedKernel& kernel, std::uint64_t dynamic_bytes,
                                 const gpu_spec::GpuSpec& gpu) {
  const auto most = static_cast<std::uint64_t>(gpu.shared_bytes_per_block_optin);
  if (dynamic_bytes + kernel.static_shared_bytes <= most) return {};
  return fmt::format(
      "{} bytes of dynamic and {} of static shared memory are more than the {} that a block has "
      "on this GPU at most; make the tiles smaller, or fewer",
      dynamic_bytes, kernel.static_shared_bytes, most);
}

LaunchVerdict judge_launch(const LoadedKernel& kernel, const LaunchShape& shape,
                           std::uint64_t stack_bytes, const gpu_spec::GpuSpec& gpu) {
  if (LaunchVerdict sizes = judge_sizes(shape, gpu); sizes.error != CudaError::success)
    return sizes;
  if (LaunchVerdict local = judge_local_memory(kernel, stack_bytes, gpu);
      local.error != CudaError::success) {
    return local;
  }
  if (std::string reason = beyond_shared_memory(kernel, shape.dynamic_shared_bytes, gpu);
      !reason.empty()) {
    return refuse(CudaError::invalid_value, std::move(reason));
  }
  if (shape.dynamic_shared_bytes > kernel.max_dynamic_shared_bytes) {
    return refuse(
        CudaError::invalid_value,
        fmt::format(
            "{} bytes of dynamic shared memory are over this kernel's limit of {}; up to {} "
            "can be had with cudaFuncSetAttribute(kernel, "
            "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
            shape.dynamic_shared_bytes, kernel.max_dynamic_shared_bytes,
            gpu.shared_bytes_per_block_optin - static_cast<int>(kernel.static_shared_bytes)));
  }
  const auto& required = kernel.info->required_threads;
  const Dim3 needed{required[0], required[1], required[2]};
  if (needed.x != 0 && !(needed == shape.block)) {
    return refuse(CudaError::invalid_value,
                  fmt::format("the kernel was compiled for blocks of {}, not {}", text_of(needed),
                              text_of(shape.block)));
  }
  const auto& most = kernel.info->max_threads;
  const std::uint64_t bound =
      std::uint64_t{most[0]} * std::max(most[1], 1u) * std::max(most[2], 1u);
  if (bound != 0 && shape.block.count() > bound) {
    return refuse(CudaError::invalid_value,
                  fmt::format("a block of {} threads is over the kernel's __launch_bounds__ of {}",
                              shape.block.count(), bound));
  }
  if (occupancy(shape, gpu).blocks_per_sm == 0) {
    return refuse(
        CudaError::launch_out_of_resources,
        fmt::format(
            "not one block fits on a multiprocessor: {} threads x {} registers of {}, and {} "
            "bytes of shared memory of {}",
            shape.block.count(), shape.registers_per_thread, gpu.registers_per_sm,
            shape.static_shared_bytes + shape.dynamic_shared_bytes, gpu.shared_bytes_per_sm));
  }
  return {};
}

LaunchVerdict judge_cooperative(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu) {
  const std::uint64_t per_sm = occupancy(shape, gpu).blocks_per_sm;
  const std::uint64_t most = per_sm * static_cast<std::uint64_t>(gpu.sm_count);
  if (shape.grid.count() <= most) return {};
  return refuse(
      CudaError::cooperative_launch_too_large,
      fmt::format(
          "the {} blocks of a cooperative launch have to run at once, but only {} fit: {} on "
          "each of {} multiprocessors (cudaOccupancyMaxActiveBlocksPerMultiprocessor)",
          shape.grid.count(), most, per_sm, gpu.sm_count));
}

std::uint64_t l1_bytes_per_block(const LaunchShape& shape, unsigned blocks_per_sm,
                                 const gpu_spec::GpuSpec& gpu) {
  const auto grid_blocks = shape.grid.count();
  const auto sms = static_cast<std::uint64_t>(std::max(gpu.sm_count, 1));
  const std::uint64_t resident =
      std::clamp<std::uint64_t>((grid_blocks + sms - 1) / sms, 1, std::max(blocks_per_sm, 1u));
  return l1_bytes_beside(shape, resident, gpu) / resident;
}

double device_share(const LaunchShape& shape, const TimeBreakdown& time, double device_us,
                    const gpu_spec::GpuSpec& gpu) {
  const double places =
      static_cast<double>(std::max(occupancy(shape, gpu).blocks_per_sm, 1U)) * gpu.sm_count;
  double share = static_cast<double>(shape.grid.count()) / std::max(places, 1.0);
  double busy_us = device_us;
  for (const Limiter across_pcie : {Limiter::host_loads, Limiter::host_stores}) {
    const auto term = time.terms.find(across_pcie);
    if (term != time.terms.end()) busy_us = std::max(busy_us, term->second);
  }
  if (time.total_us > 0) share = std::max(share, busy_us / time.total_us);
  return std::clamp(share, 1e-3, 1.0);
}

}  // namespace simgpu
