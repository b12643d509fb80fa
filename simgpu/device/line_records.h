#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simgpu/counters/access_counts.h"
#include "simgpu/counters/first_access.h"
#include "simgpu/isa/kernel_info.h"
#include "simgpu/line_record.h"
#include "simgpu/model/time_model.h"
#include "simgpu/model/work.h"

namespace simgpu {

/// A launch whose cost is told line by line.
struct LaunchOfLines {
  const KernelInfo& kernel;
  /// The PTX whose lines InstructionInfo::ptx_line counts; empty: nobody has it.
  const std::string& ptx;
  const model::Work& work;
  const PredictedTime& predicted;
  double busy_us = 0;  ///< the launch's time, but its overhead
  const AccessCountsByPc& accesses;
  const FirstAccesses& first_accesses;
};

/// What each line of the source has cost, most time first. A place in a header of the toolkit or of
/// the system counts for the call that led there, an instruction without a place for the one before
/// it. Nothing where the kernel was built without -lineinfo.
std::vector<LineRecord> line_records(const LaunchOfLines& launch);

}  // namespace simgpu
