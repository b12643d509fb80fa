#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/exec/warp.h"

namespace simgpu {

/// Finds out that a block will never end: all that decides where its threads go is as it was some
/// rounds ago, and so they will go on as they did since. A sum that grows meanwhile does not count,
/// unless something depends on it. It keeps one picture of the block and takes a new
/// one after 1, 2, 4, 8, … rounds (Brent's way to find a cycle), so that a block whose state
/// changes costs one comparison a round, which mostly ends at its first bytes.
class SpinDetector {
 public:
  /// What a block's threads can see, beside the global memory: its warps' registers, their shared
  /// and their local memory.
  struct View {
    std::span<const Warp> warps;
    std::size_t register_bytes = 0;  ///< of one warp
    const ControlState& control;
    std::span<const std::byte> shared, local, frames;
    std::uint64_t changes = 0;  ///< of global memory by the block, so far
  };

  void begin_block();
  /// To be called when every warp had its turn. @returns whether the block is in a cycle
  bool spins(const View& view);

 private:
  bool same(const View& view) const;
  static bool same_registers(const ControlState& control, const Warp& warp, const std::byte* kept);
  void keep(const View& view);

  std::uint64_t rounds_ = 0;
  std::uint64_t kept_at_ = 0;  ///< round of the picture, 0 when there is none
  std::uint64_t changes_ = 0;
  struct GroupPlace {
    const Lowered* resume = nullptr;
    std::vector<SimtStack::Entry> stack;
    CallStack calls;
  };
  struct WarpPlace {
    const Lowered* resume = nullptr;
    std::uint32_t dead = 0;
    WarpState state = WarpState::ready;
    std::vector<SimtStack::Entry> stack;
    CallStack calls;
    std::vector<GroupPlace> others;
  };
  std::vector<WarpPlace> warps_;
  std::vector<std::byte> registers_, shared_, local_, frames_;
};

}  // namespace simgpu
