#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/model/latency.h"
#include "simgpu/model/work.h"

namespace simgpu::model {

/// What a value waits for that is, or may be, on its way from global memory.
struct AwaitedLoad {
  static constexpr std::uint32_t kNone = ~0U;

  std::uint32_t instruction = kNone;  ///< the load; kNone: there is none
  FarShares left = {};                ///< of its requests, which nobody is known to wait for
  std::uint32_t reader = kNone;       ///< the basic block that has used it last
  double longer = 0;                  ///< that this one waits
};

/// Uses of loaded values that are executed less often than the load. A load's latency is that of
/// its mean request, but a use in a part of its executions may be one in which it went far: the
/// others may have been there to make the mean look short.
class LoadUses {
 public:
  explicit LoadUses(const Work& work);

  /// Of the result of an instruction.
  AwaitedLoad result_of(std::size_t instruction) const;

  /// Cycles that an instruction waits longer for a value than for the load's mean request, when it
  /// is taken to use those that went furthest, but for what uses before it have waited for.
  double longer(AwaitedLoad& load, std::size_t reader) const;

 private:
  const Work& work_;
  // By instruction.
  std::vector<std::uint32_t> block_of_;  // the first of its basic block
  std::vector<double> times_;            // that the block is executed, by all warps
};

}  // namespace simgpu::model
