#pragma once

#include <map>
#include <memory>
#include <vector>

#include "simgpu/device/loaded_kernel.h"
#include "simgpu/exec/engine.h"
#include "simgpu/report.h"
#include "simgpu/sass/alignment.h"

namespace simgpu {

/// How often launches execute the machine code of their kernels, told by what they executed of its
/// PTX.
class MachineCodeRecords {
 public:
  struct Told {
    MachineCodeRecord record;
    sass::Alignment alignment;
  };
  /// Valid until the next call.
  const Told& of(const LoadedKernel& kernel, const LaunchResult& result);
  void forget_all() { last_.clear(); }

 private:
  /// Of each kernel the last launch: those that follow mostly execute the same.
  struct Last {
    std::vector<ExecutionCount> executed;
    Told told;
  };
  std::map<std::shared_ptr<const sass::CutCode>, Last> last_;
  const Told none_{.record = {.why_not = "there is no machine code of it"}, .alignment = {}};
};

}  // namespace simgpu
