#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/checkers/block_checkers.h"
#include "simgpu/exec/block_position.h"
#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/undefined_values.h"
#include "simgpu/exec/value_follower.h"
#include "simgpu/exec/warp.h"

namespace simgpu {

/// The undefined values of the block that runs, with checkers. A warp that has any steps here,
/// so that each of its instructions is looked at before it is executed.
class UndefinedFollower {
 public:
  /// @param checkers nullptr when they are off: nothing is followed
  UndefinedFollower(const LaunchContext& launch, BlockCheckers* checkers,
                    const BlockPosition& position);

  /// Registers that nothing has written are undefined from the beginning.
  void begin_block(std::span<Warp> warps);

  /// Behind a load: what it read of memory that nothing has written is followed. Says where the
  /// warp goes on.
  const Lowered* after_load(const Lowered* in, Warp& warp) {
    if (checkers_ == nullptr || !checkers_->has_unwritten()) [[likely]]
      return in + 1;
    return note_unwritten(in, warp);
  }
  /// A shuffle has given `lanes` values that are undefined as `finding` says. Likewise.
  const Lowered* follow(const Lowered* in, Warp& warp, std::uint32_t lanes,
                        const RawFinding& finding);

  /// Executes `in`, looking at it first, and says where the warp goes on.
  const Lowered* step(const Lowered* in, Warp& warp);

 private:
  const Lowered* note_unwritten(const Lowered* in, Warp& warp);
  static const Lowered* begin_following(const Lowered* in, Warp& warp);
  void mark(const std::vector<UnwrittenStore>& stores, const Warp& warp);

  const LaunchContext& launch_;
  BlockCheckers* const checkers_;
  const BlockPosition& position_;
  std::vector<UndefinedValues> values_;  ///< by warp
};

}  // namespace simgpu
