#include "simgpu/model/occupancy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>

namespace simgpu {
namespace {

constexpr std::uint64_t kWarp = 32;
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint32_t>::max();
/// Registers are given to warps in units of 256 (CUDA occupancy calculator, all capabilities
/// since 3.0).
constexpr std::uint64_t kRegisterUnit = 256;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Shared memory is given to blocks in units of 256 bytes on capability 7, 128 bytes since 8.0.
std::uint64_t shared_unit(const gpu_spec::GpuSpec& gpu) {
  return gpu.compute_capability_major >= 8 ? 128 : 256;
}

std::uint64_t warps_per_block(const LaunchShape& shape) {
  return round_up(std::max<std::uint64_t>(shape.block.count(), 1), kWarp) / kWarp;
}

/// Blocks whose registers fit. Each of the SM's schedulers owns an equal share of the register
/// file, and a warp's registers lie in one share.
std::uint64_t blocks_by_registers(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu) {
  if (shape.registers_per_thread == 0) return kUnlimited;
  if (shape.registers_per_thread > static_cast<unsigned>(gpu.max_registers_per_thread)) return 0;
  const auto schedulers = static_cast<std::uint64_t>(gpu.schedulers_per_sm);
  const std::uint64_t share = static_cast<std::uint64_t>(gpu.registers_per_sm) / schedulers;
  const std::uint64_t per_warp = round_up(shape.registers_per_thread * kWarp, kRegisterUnit);
  return share / per_warp * schedulers / warps_per_block(shape);
}

/// Blocks whose shared memory fits, with what the system takes from each.
std::uint64_t blocks_by_shared_memory(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu) {
  const std::uint64_t asked = std::uint64_t{shape.static_shared_bytes} + shape.dynamic_shared_bytes;
  const auto largest = static_cast<std::uint64_t>(
      std::max(gpu.shared_bytes_per_block, gpu.shared_bytes_per_block_optin));
  if (asked > largest) return 0;
  const std::uint64_t taken = round_up(
      asked + static_cast<std::uint64_t>(gpu.reserved_shared_bytes_per_block), shared_unit(gpu));
  return taken == 0 ? kUnlimited : static_cast<std::uint64_t>(gpu.shared_bytes_per_sm) / taken;
}

}  // namespace

Occupancy occupancy(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu) {
  const std::uint64_t warps = warps_per_block(shape);
  const bool too_large =
      shape.block.count() > static_cast<std::uint64_t>(gpu.max_threads_per_block);
  struct Limit {
    std::uint64_t blocks;
    OccupancyLimiter name;
  };
  // Of equal limits the first is named: warps, which the student sets, before what follows from the
  // code.
  const Limit limits[] = {
      {too_large ? 0 : static_cast<std::uint64_t>(gpu.max_warps_per_sm) / warps,
       OccupancyLimiter::warps},
      {blocks_by_registers(shape, gpu), OccupancyLimiter::registers},
      {blocks_by_shared_memory(shape, gpu), OccupancyLimiter::shared_memory},
      {static_cast<std::uint64_t>(gpu.max_blocks_per_sm), OccupancyLimiter::blocks},
  };
  const Limit* const least =
      std::min_element(std::begin(limits), std::end(limits),
                       [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  Occupancy result;
  result.blocks_per_sm = static_cast<unsigned>(least->blocks);
  result.limiter = least->name;
  result.fraction = static_cast<double>(least->blocks * warps) / gpu.max_warps_per_sm;
  return result;
}

std::uint64_t l1_bytes_beside(const LaunchShape& shape, std::uint64_t resident_blocks,
                              const gpu_spec::GpuSpec& gpu) {
  // CUDA C++ Programming Guide, "Shared Memory" of each compute capability: carve-outs in KB.
  constexpr std::array<std::int64_t, 11> kCarveOuts{0, 8, 16, 32, 48, 64, 100, 132, 164, 196, 228};
  const std::uint64_t per_block = std::uint64_t{shape.static_shared_bytes} +
                                  shape.dynamic_shared_bytes +
                                  static_cast<std::uint64_t>(gpu.reserved_shared_bytes_per_block);
  const auto wanted = static_cast<std::int64_t>(per_block * resident_blocks);
  std::int64_t carved = gpu.shared_bytes_per_sm;
  for (const std::int64_t kilobytes : kCarveOuts) {
    if (kilobytes * 1024 >= wanted && kilobytes * 1024 <= gpu.shared_bytes_per_sm) {
      carved = kilobytes * 1024;
      break;
    }
  }
  return static_cast<std::uint64_t>(std::max<std::int64_t>(gpu.l1_bytes_per_sm - carved, 0));
}

}  // namespace simgpu
