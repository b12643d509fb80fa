#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "simgpu/counters/access_counts.h"
#include "simgpu/counters/load_counts.h"
#include "simgpu/exec/work_balance.h"
#include "simgpu/isa/instruction_info.h"
#include "simgpu/isa/issue_control.h"
#include "simgpu/model/occupancy.h"
#include "simgpu/model/spilling.h"
#include "simgpu/report.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// What a launch executed, instruction by instruction.
struct ExecutedProgram {
  std::span<const InstructionInfo> instructions;   ///< the kernel's
  std::span<const ExecutionCount> executed;        ///< of each, in total over the launch
  WorkBalance balance = {};                        ///< how unevenly blocks and warps share that
  std::span<const InstructionSpills> spills = {};  ///< of each; empty: there are none
  std::span<const LoadCounts> loads = {};  ///< of each up to the last that loads, where known
};

}  // namespace simgpu

/// The inputs of the time model, gathered once, and what its limiters share.
namespace simgpu::model {

/// One launch, as every limiter sees it.
struct Work {
  const KernelCounters& counters;
  std::span<const InstructionInfo> program;
  std::span<const ExecutionCount> executed;
  const gpu_spec::GpuSpec& gpu;
  WorkBalance balance;
  std::span<const InstructionSpills> spills = {};  ///< of each instruction, or none
  std::span<const LoadCounts> loads = {};          ///< likewise

  /// Where `program` is machine code: when each instruction may start. Empty: it is PTX.
  std::span<const IssueControl> control = {};
  /// Where it is machine code: the same launch by its PTX, of which more is known.
  const Work* by_ptx = nullptr;
  /// Where it is machine code: what each instruction asks of memory.
  std::span<const AccessCounts> accesses = {};

  std::uint64_t blocks = 1;  ///< of the grid
  std::uint64_t warps_per_block = 1;
  std::uint64_t resident_blocks = 1;  ///< per SM, by occupancy; at least 1
  double l1_bytes = 0;                ///< of an SM, beside the shared memory of its blocks
  bool is_spread = false;             ///< evenly over all SMs, as part of a GPU full of such blocks

  /// Blocks of the SM that gets most of them, if every SM takes its turn.
  std::uint64_t blocks_of_busiest_sm() const;
  /// SMs that have a block.
  std::uint64_t busy_sms() const;
  /// The busiest SM's share of what the whole launch does.
  /// @param busiest the share of the SM that does most of it; 0: of all the same
  double busiest_share(double busiest) const;
  /// What an SM's busiest scheduler does of the SM's issue slots, over a quarter: 1 to 4.
  double uneven_schedulers() const;
  /// The same of what instructions take of one pipe, of which each scheduler has a quarter.
  using Pipe = std::function<double(const InstructionInfo&)>;
  double uneven_schedulers(const Pipe& cycles) const;

  /// Warp instructions of the machine in the whole launch that occupy the pipe of a class.
  double warp_instructions(InstructionClass cls) const;
  /// The busiest SM's share of the work of the pipe of a class.
  double pipe_share(InstructionClass cls) const;
  /// All warp instructions of the machine that take an issue slot.
  double issued() const;

  /// Of the instruction with this index; nothing where none is known.
  InstructionSpills spills_of(std::size_t instruction) const {
    return instruction < spills.size() ? spills[instruction] : InstructionSpills{};
  }

  /// Of the instruction with this index; no requests where none are known.
  LoadCounts loads_of(std::size_t instruction) const {
    return instruction < loads.size() ? loads[instruction] : LoadCounts{};
  }

  /// By the clock that a GPU at work holds.
  double microseconds(double cycles) const { return cycles / gpu.clock_under_load_mhz(); }

 private:
  double uneven_schedulers(const std::array<double, 4>& shares, double busiest) const;
};

Work gather(const KernelCounters& counters, const LaunchShape& shape,
            const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu);

}  // namespace simgpu::model
