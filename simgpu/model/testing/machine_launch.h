#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simgpu/model/testing/told_launch.h"

namespace simgpu {

/// A launch told in machine code: ToldLaunch with what ptxas tells the scheduler of each
/// instruction.
struct MachineLaunch {
  ToldLaunch launch;
  std::vector<IssueControl> control;
  AccessCountsByPc accesses;

  MachineLaunch(std::uint32_t blocks, std::uint32_t threads, unsigned registers = 32)
      : launch(blocks, threads, registers) {}

  MachineLaunch& add(InstructionClass cls, IssueControl how = {.stall_cycles = 1}, double times = 1,
                     bool starts_block = false) {
    launch.add(cls, {}, {}, times, starts_block);
    control.push_back(how);
    accesses.emplace_back();
    return *this;
  }
  /// A load from shared memory of so many wavefronts each, whose result releases scoreboard 0.
  MachineLaunch& load_shared(std::uint64_t wavefronts, double times = 1) {
    add(InstructionClass::shared_load, {.stall_cycles = 1, .write_barrier = 0}, times);
    const std::uint64_t requests = launch.executed.back().warps;
    accesses.back() = {.bank_requests = requests, .wavefronts = wavefronts * requests};
    return *this;
  }
  /// What is added from here on is executed so many times, and follows itself.
  std::uint32_t begin_loop(double times) {
    const auto first = static_cast<std::uint32_t>(launch.program.size());
    add(InstructionClass::other, {.stall_cycles = 1}, times, true);
    return first;
  }
  MachineLaunch& end_loop(std::uint32_t first) {
    launch.loop_to(first);
    return add(InstructionClass::other, {.stall_cycles = 1}, 1, true);
  }

  model::Work work(const gpu_spec::GpuSpec& gpu) const {
    model::Work work = launch.work(gpu);
    work.control = control;
    work.accesses = accesses;
    return work;
  }
};

}  // namespace simgpu
