#pragma once

#include <cstdint>
#include <deque>
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
  /// Work that launches may take, in units of WorkBudget: a launch whose counts are new takes up to
  /// seconds, and a program may make as many of them as it likes. Kernels of the course take 10^5
  /// to 10^7 a launch.
  struct Budget {
    std::uint64_t of_all = 12'000'000'000;
    std::uint64_t of_a_kernel = 4'000'000'000;
  };

  MachineCodeRecords() : MachineCodeRecords(Budget{}) {}
  explicit MachineCodeRecords(const Budget& budget)
      : of_a_kernel_(budget.of_a_kernel), left_(budget.of_all) {}

  /// Valid until the next call.
  const Told& of(const LoadedKernel& kernel, const LaunchResult& result);
  /// All but what work has been done: a program that resets its device gets no more of it.
  void forget_all() { kernels_.clear(); }

 private:
  struct Known {
    std::vector<ExecutionCount> executed;
    Told told;
  };
  struct Kernel {
    sass::WorkBudget left;
    std::deque<Known> launches;  ///< those whose counts differed, the latest last
  };
  static void align(const LoadedKernel& kernel, sass::WorkBudget& left, Known& known);

  std::map<std::shared_ptr<const sass::CutCode>, Kernel> kernels_;
  std::uint64_t of_a_kernel_;
  sass::WorkBudget left_;
  const Told none_{.record = {.why_not = "there is no machine code of it"}, .alignment = {}};
};

}  // namespace simgpu
