#pragma once

#include <span>
#include <string>

#include "simgpu/exec/block_position.h"
#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/launch_failure.h"
#include "simgpu/exec/warp.h"

namespace simgpu {

/// Ends the launch: throws the LaunchFailure that tells why, of which thread of the block that
/// runs, and at which instruction.
class FailureReporter {
 public:
  FailureReporter(const LaunchContext& launch, const BlockPosition& position)
      : launch_(launch), position_(position) {}

  /// For what a lane does at an instruction.
  [[noreturn]] void fail(const Lowered* in, const Warp& warp, unsigned lane, Failure failure) const;

  // For what a block waits for, and what will not come. `warps` are those of the block.

  /// They read the same again and again.
  [[noreturn]] void report_stuck(std::span<const Warp> warps) const;
  /// They go round in a loop.
  [[noreturn]] void report_spinning(std::span<const Warp> warps) const;
  /// They wait at barriers.
  [[noreturn]] void report_deadlock(std::span<const Warp> warps) const;

  /// The instructions of the launch are used up, and a warp has not come to its end.
  /// @param why a clause
  [[noreturn]] void report_too_long(const Warp& warp, const Lowered* at,
                                    const std::string& why) const;
  /// Those of all blocks together.
  [[noreturn]] void report_over_budget(const Warp& warp, const Lowered* at) const;

 private:
  [[noreturn]] void report_endless(const Warp& warp, const Lowered* at,
                                   const std::string& why) const;

  const LaunchContext& launch_;
  const BlockPosition& position_;
};

}  // namespace simgpu
