#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/exec/warp.h"

namespace simgpu {

/// The last look of a warp at what blocks that run by turns may change, and all that a look in vain
/// must not change: how often a warp looks follows from the order in which it is simulated, and on
/// a machine from how long the others take, which the warp's time has.
class VainLook {
 public:
  void clear() { in_ = nullptr; }

  /// The warp has looked, by instruction `in`. If it is as it was when it looked before, and its
  /// block has changed nothing since, then what it did is taken back from its counts and its time.
  /// @return whether it is so
  bool note(const Lowered* in, Warp& warp);

 private:
  bool is_same(const Lowered* in, const Warp& warp, std::uint64_t effects) const;

  const Lowered* in_ = nullptr;
  std::uint64_t effects_ = 0;  ///< MemoryChanges::effects()
  std::vector<std::byte> registers_;
  // Of the warp then.
  std::vector<ExecutionCount> counts_;
  WarpTimes times_;
};

}  // namespace simgpu
