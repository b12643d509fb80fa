#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simgpu/counters/first_access.h"
#include "simgpu/device/instruction_costs.h"
#include "simgpu/isa/kernel_info.h"
#include "simgpu/line_record.h"

namespace simgpu {

/// A launch whose cost is told line by line.
struct LaunchOfLines {
  const KernelInfo& kernel;
  /// The PTX whose lines InstructionInfo::ptx_line counts; empty: nobody has it.
  const std::string& ptx;
  std::span<const InstructionCost> costs;  ///< of the kernel's instructions
  const FirstAccesses& first_accesses;
};

/// What each line of the source has cost, most time first. A place in a header of the toolkit or of
/// the system counts for the call that led there, an instruction without a place for the one before
/// it. Nothing where the kernel was built without -lineinfo.
std::vector<LineRecord> line_records(const LaunchOfLines& launch);

}  // namespace simgpu
