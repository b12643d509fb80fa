#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/counters/access_counts.h"
#include "simgpu/line_record.h"
#include "simgpu/model/instruction_times.h"
#include "simgpu/model/time_model.h"
#include "simgpu/model/work.h"

namespace simgpu {

/// What an instruction has cost a launch.
struct InstructionCost {
  InstructionTime time;
  LineCounters counters;

  bool is_nothing() const { return time.time_us == 0 && counters == LineCounters{}; }
};

/// Of each instruction of the work's program.
/// @param busy_us  the launch's time, but its overhead
/// @param accesses of each instruction up to the last that has any
std::vector<InstructionCost> instruction_costs(const model::Work& work,
                                               const PredictedTime& predicted, double busy_us,
                                               const AccessCountsByPc& accesses);

/// What machine instructions cost, for the instructions of PTX that they were made of.
/// @param ptx_of       MachineWork::ptx_of
/// @param instructions of the PTX
std::vector<InstructionCost> costs_by_ptx(std::span<const InstructionCost> costs,
                                          std::span<const std::uint32_t> ptx_of,
                                          std::size_t instructions);

}  // namespace simgpu
