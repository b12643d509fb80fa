#pragma once

#include <cstdint>

#include "simgpu/counters/traffic.h"
#include "simgpu/exec/failure_reporter.h"
#include "simgpu/exec/launch_context.h"

namespace simgpu {

/// What the blocks that ran here have taken of the launch's budget: instructions, and other work in
/// their measure. Ends the launch when it is used up.
class WorkBudget {
 public:
  /// A sector of global memory, on its way through the models of L1 and L2, in instructions.
  static constexpr std::uint64_t kWorkOfASector = 1;

  /// @param traffic of the same blocks
  WorkBudget(const LaunchContext& launch, const BlockTraffic& traffic,
             const FailureReporter& failures);

  void begin_block();
  /// Before the block's traffic is taken: its sectors stay counted.
  void keep_sectors() { other_work_ += kWorkOfASector * traffic_.requested_sectors(); }
  /// A warp has executed instructions. @throws LaunchFailure over the budget
  void add_instructions(std::uint64_t instructions, const Warp& warp) {
    instructions_ += instructions;
    check(warp, warp.goes_on_at());
  }
  /// Work beside executing instructions, in their measure. @throws LaunchFailure over the budget
  void spend(std::uint64_t instructions, const Warp& warp, const Lowered* at) {
    other_work_ += instructions;
    check(warp, at);
  }

  /// Warp instructions so far, all blocks together.
  std::uint64_t instructions() const { return instructions_; }
  /// Those of the block that runs.
  std::uint64_t instructions_of_block() const { return instructions_ - began_at_; }
  /// What counts against the launch's budget.
  std::uint64_t work() const {
    return instructions_ + other_work_ + kWorkOfASector * traffic_.requested_sectors();
  }

 private:
  void check(const Warp& warp, const Lowered* at) const;

  const LaunchContext& launch_;
  const BlockTraffic& traffic_;
  const FailureReporter& failures_;
  const std::uint64_t begin_work_;  ///< of each block
  std::uint64_t instructions_ = 0;
  std::uint64_t other_work_ = 0;  ///< that takes the time of so many instructions
  std::uint64_t began_at_ = 0;    ///< instructions_ when the block began
};

}  // namespace simgpu
