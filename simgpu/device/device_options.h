#pragma once

#include <cstdint>

#include "simgpu/machine_code/assembler.h"

namespace simgpu {

/// By what the time model goes.
enum class TimeFrom : std::uint8_t {
  machine_code,  ///< what ptxas makes of the PTX, where it is known how often it was executed
  ptx,
};

struct DeviceOptions {
  unsigned workers = 0;  ///< CPU threads that execute blocks; 0: one per CPU
  bool checkers = true;
  /// Run only as many blocks of a grid as predict counters and time; time cuBLAS without computing.
  bool sampled = false;
  /// Of a sampled run: execute a launch although one like it tells its outcome. See KnownLaunches.
  bool execute_repeats = false;
  std::uint64_t instruction_budget = 20'000'000'000;
  double warp_limit_us = 0;  ///< modelled, of a launch: EngineOptions::warp_limit_us
  bool lines = false;        ///< what source lines cost is told: KernelRecord::line_table
  /// How often machine code is executed is told: KernelRecord::machine_code.
  bool machine_code = false;
  TimeFrom time_from = TimeFrom::ptx;
  bool predicts_times = true;  ///< else each launch takes a microsecond, whatever it does
  bool reads_machine_code() const { return machine_code || time_from == TimeFrom::machine_code; }
  /// Launches that take too long do not fail: their times are predicted from some blocks, or told
  /// as lower bounds. The budget is then that of all launches since the last mark together.
  bool bounds_long_launches = false;
  /// With that: they are told from some of their blocks alone, without a look at how many it takes
  /// to predict the rest.
  bool bounds_by_blocks_alone = false;
  /// The budget is that of all launches since the last mark together, and those that it does not
  /// suffice for fail.
  bool budget_is_of_call = false;
  /// The block in which the last launch failed begins first: for calls that may fail in the same
  /// way.
  bool failing_block_first = false;
  bool backwards = false;  ///< EngineOptions::backwards
  /// Calls of the host since the last mark, waiting ones left out, after which its program takes
  /// too long; so it does when its launches and copies together have used up the budget of one
  /// launch. 0: no limit.
  std::uint64_t host_call_limit = 0;
  /// Kernels have no more registers for each thread than that, so that they do not keep a launch
  /// from running; 0: as many as the GPU allows.
  unsigned most_registers = 0;
  std::uint64_t memory_limit = 0;  ///< bytes that may be allocated; 0: the GPU's memory
  /// Who makes machine code of the PTX that is executed, for registers and occupancy; nullptr:
  /// these are estimated. Has to outlive the device.
  const machine_code::Assembler* assembler = nullptr;
};

}  // namespace simgpu
