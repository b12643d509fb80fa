#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "simgpu/device/device_options.h"
#include "simgpu/device/instruction_costs.h"
#include "simgpu/device/loaded_kernel.h"
#include "simgpu/device/machine_code_record.h"
#include "simgpu/exec/engine.h"
#include "simgpu/model/time_model.h"
#include "simgpu/report.h"

namespace simgpu {

/// What a launch takes.
struct LaunchTime {
  PredictedTime predicted;
  double device_us = 0;  ///< device_time_us()
  /// The launch's, with requests for memory as machine code issues them, where the time is told by
  /// that.
  KernelCounters counters;
  std::optional<MachineCodeRecord> machine_code;  ///< where it is read
  std::vector<InstructionCost> costs;             ///< of the kernel's PTX; empty: nobody asked
};

/// Tells times of launches: by the machine code of their kernels where it is known how often that
/// was executed, else by their PTX, of which they take 1.5 times as long.
class LaunchTimes {
 public:
  explicit LaunchTimes(const DeviceOptions& options) : options_(options) {}

  struct Launch {
    const LoadedKernel& kernel;
    const LaunchResult& result;
    const LaunchShape& shape;
    const KernelCounters& counters;  ///< those of `result`, with spilled registers
    const gpu_spec::GpuSpec& gpu;
  };
  LaunchTime of(const Launch& launch);
  void forget_all() {
    machine_code_.forget_all();
    last_.clear();
  }

 private:
  LaunchTime tell(const Launch& launch);

  /// Of each kernel the last launch: those that follow mostly do the same.
  struct Last {
    const gpu_spec::GpuSpec* gpu = nullptr;
    LaunchShape shape;
    KernelCounters counters;
    std::vector<ExecutionCount> executed;
    LoadCountsByPc loads;
    AccessCountsByPc accesses;
    WorkBalance balance;
    LaunchTime time;

    bool is_like(const Launch& launch) const;
  };

  const DeviceOptions& options_;
  MachineCodeRecords machine_code_;
  std::map<std::shared_ptr<const sass::CutCode>, Last> last_;
};

}  // namespace simgpu
