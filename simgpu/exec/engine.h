#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/access_counts.h"
#include "simgpu/counters/first_access.h"
#include "simgpu/counters/load_counts.h"
#include "simgpu/counters/traffic_log.h"
#include "simgpu/exec/block_weights.h"
#include "simgpu/finding.h"
#include "simgpu/isa/kernel_info.h"
#include "simgpu/kernel_counters.h"
#include "simgpu/lower/lower.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/ptx/ast.h"
#include "simgpu/settled_bytes.h"
#include "simgpu/touched_places.h"
#include "specs/gpu_spec.h"

/// The engine: lowered kernels, and warps that execute them.
namespace simgpu {

class KernelHeap;
class SectorCache;
class StepObserver;

/// lower() to the instructions of this engine.
/// @throws std::runtime_error
std::shared_ptr<const Program> lower(const ptx::Module& module, const SymbolTable& symbols);

struct EngineOptions {
  unsigned workers = 1;  ///< CPU threads; results do not depend on it
  bool checkers = true;  ///< races, uninitialised reads (bounds are always checked)
  /// Work of the simulator, in warp instructions, after which a launch takes too long
  std::uint64_t instruction_budget = 20'000'000'000;
  /// Modelled time after which a warp takes too long; 0: no limit. See LaunchContext.
  double warp_limit_us = 0;
  /// What takes too long does not fail: as few blocks run as tell its counters, or bounds of them.
  bool bounds_long_launches = false;
  /// With that: bounds alone, which a grid of any size has at once.
  bool bounds_by_blocks_alone = false;
  /// Decides which blocks run of a launch that is bounded or sampled: whoever does not know it
  /// cannot tell them from the others.
  std::uint64_t secret = 0;
  /// LaunchResult::sectors are wanted.
  bool sectors = false;
  /// LaunchResult::places are wanted.
  bool places = false;
  /// LaunchResult::first_accesses are wanted.
  bool first_accesses = false;
  /// Where a few blocks tell what all do, run only those: right counters, incomplete memory.
  bool sampled = false;
  /// L2Cache::storage() that launches one after the other use; nullptr: each gets its own, which
  /// takes longer than a short launch. Results do not depend on it.
  SectorCache* l2_memory = nullptr;
  /// The block that begins first, where blocks run one after the other: where one is known to fail,
  /// the others need not run for that to be seen. Of a grid without it the first one.
  std::uint64_t first_block = 0;
  /// Kernels that see the order of warps and blocks (KernelInfo::sees_order) get the opposite one:
  /// the last ones come first, and each warp goes on as long as it waits for nobody.
  bool backwards = false;
  /// Sees every instruction; the launch runs whole, on one worker. nullptr: nobody does.
  StepObserver* observer = nullptr;
};

/// cudaLimitStackSize of a GPU whose program has not set it.
inline constexpr std::uint32_t kDefaultStackBytes = 1024;

struct LaunchRequest {
  std::string kernel;  ///< mangled name
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t stack_bytes = kDefaultStackBytes;  ///< per thread, for calls that are not inlined
  std::span<const std::byte> parameters;           ///< KernelInfo::parameter_bytes long
  std::uint64_t resident_blocks = 1;  ///< at once on the whole GPU, for the cache model
  std::uint64_t l1_bytes_per_block = 0;
  /// Device address of 8 zero bytes for a cooperative launch, whose blocks all run at once and may
  /// wait for each other: the workspace of grid.sync(). 0 for other launches.
  std::uint64_t grid_workspace = 0;
  KernelHeap* heap = nullptr;  ///< for malloc in kernels, which fails without one
  double clock_us = 0;         ///< modelled time at the start, for %globaltimer and %clock
};

inline std::uint64_t warps_of_block(const LaunchRequest& request) {
  return (request.block.count() + 31) / 32;
}
inline std::uint64_t warps_of_grid(const LaunchRequest& request) {
  return request.grid.count() * warps_of_block(request);
}

struct LaunchResult {
  LaunchStatus status = LaunchStatus::ok;
  KernelCounters counters;
  std::vector<ExecutionCount> executed;  ///< by instruction
  LoadCountsByPc loads;                  ///< by instruction too
  AccessCountsByPc accesses;             ///< likewise
  FirstAccesses first_accesses;          ///< likewise; only when asked for
  WorkBalance balance;
  /// Every block may have asked an atomic which work is its own, so that the order in which blocks
  /// ran is what made `balance` as it is.
  bool asked_for_work = false;
  std::vector<Finding> findings;     ///< file and line filled in; kernel name mangled
  std::string printed;               ///< device printf output, in order of blocks
  std::uint64_t sampled_blocks = 0;  ///< blocks that ran, when not all did; else 0
  std::uint64_t work = 0;            ///< that counts against the budget
  bool at_least = false;             ///< counters are lower bounds
  std::uint64_t bounded_blocks = 0;  ///< they bound a grid of so many blocks; 0: the whole one
  /// Where not all blocks ran: what whole blocks stored, and memory holds. All else in memory is as
  /// it was.
  SettledBytes settled;

  /// Of a launch without findings, where launches may be sampled: it is done again with the same
  /// result, and leaves memory as it is, while nobody else changes `touched`, the allocations (by
  /// base address) that the blocks which ran read or wrote. nullopt when that cannot be said.
  ///
  /// Blocks that did not run need not be counted in: neither the result nor memory has anything
  /// from theirs. Those that ran read what they read before, from allocations that they do not
  /// write to, so that step by step they do the same, ask for the same further blocks, and store
  /// what is there already.
  std::optional<std::vector<std::uint64_t>> touched;
  /// Where all blocks touch memory, those that did not run included; only when asked for, and
  /// nullptr where nobody knows.
  std::shared_ptr<const TouchedPlaces> places;
  std::vector<TouchedSector> sectors;  ///< that were touched, in order; only when asked for
};

/// Runs one kernel to its end. Deterministic: same inputs, same result, counters and findings for
/// any number of workers.
LaunchResult execute(const Program& program, const LaunchRequest& request, DeviceMemory& memory,
                     const gpu_spec::GpuSpec& gpu, const EngineOptions& options);

}  // namespace simgpu
