#pragma once

#include "simgpu/device/loaded_kernel.h"
#include "simgpu/exec/engine.h"
#include "simgpu/report.h"

namespace simgpu {

/// How often the launch executes the kernel's machine code, told by what it executed of its PTX.
MachineCodeRecord machine_code_record(const LoadedKernel& kernel, const LaunchResult& result);

}  // namespace simgpu
