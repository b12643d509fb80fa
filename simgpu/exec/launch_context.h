#pragma once

#include <cstddef>
#include <cstdint>

#include "simgpu/counters/traffic_log.h"
#include "simgpu/exec/engine.h"
#include "simgpu/exec/flag_times.h"
#include "simgpu/exec/step_observer.h"
#include "simgpu/isa/lowered.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// What all blocks of a launch share.
struct LaunchContext {
  const LoweredKernel& kernel;
  const LaunchRequest& request;
  DeviceMemory& memory;
  const gpu_spec::GpuSpec& gpu;
  bool checkers = true;
  bool sectors = false;              ///< LaunchResult::sectors are wanted
  bool places = false;               ///< LaunchResult::places are wanted
  bool first_accesses = false;       ///< LaunchResult::first_accesses are wanted
  bool undo = false;                 ///< pages must be saved before they are stored to
  bool repeats_on_conflict = false;  ///< is repeated when two blocks touch the same word
  std::uint64_t instruction_budget = 0;
  /// Instructions of one warp after which the launch takes too long: they alone take its modelled
  /// limit, one after the other.
  std::uint64_t warp_instructions = ~std::uint64_t{0};
  bool bounds_long_launches = false;    ///< as EngineOptions have it
  bool bounds_by_blocks_alone = false;  ///< likewise
  std::uint64_t secret = 0;             ///< likewise
  /// Of a block's traffic log; fewer where many blocks run side by side.
  std::size_t log_entries = TrafficLog::kMaxEntries;
  std::size_t window_bytes = ~std::size_t{0};  ///< of a block's races in global memory; likewise
  /// Whoever asks an atomic for work lets all others of the blocks that the GPU holds ask as well,
  /// and waits for them as long as it would there.
  bool asks_take_turns = false;
  /// When blocks that run by turns store what others of them wait for; nullptr: each has its own.
  FlagTimes* flags = nullptr;
  bool watches_values = false;    ///< MemoryChanges::new_values() is wanted
  bool notes_stores = false;      ///< memory learns which allocations were stored to, and no others
  std::uint64_t first_block = 0;  ///< as EngineOptions have it
  bool backwards = false;         ///< EngineOptions::backwards, of a kernel that sees it
  SectorCache* l2_memory = nullptr;  ///< likewise
  StepObserver* observer = nullptr;  ///< likewise
};

}  // namespace simgpu
