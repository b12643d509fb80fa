#pragma once

namespace simgpu {

/// What ptxas tells the scheduler about a machine instruction: bits 105 to 125 of its word.
struct IssueControl {
  static constexpr unsigned kNoBarrier = 7;
  static constexpr unsigned kScoreboards = 6;

  unsigned stall_cycles = 0;            ///< before the warp's next instruction may start, 0 to 15
  bool yields = false;                  ///< the scheduler had better go on with another warp
  unsigned write_barrier = kNoBarrier;  ///< scoreboard (0 to 5) that is released with the result
  unsigned read_barrier = kNoBarrier;   ///< scoreboard that is released once operands are read
  unsigned wait_mask = 0;               ///< scoreboards that have to be released before it starts
  unsigned reuse_mask = 0;              ///< operands that are kept for the next instruction
  bool operator==(const IssueControl&) const = default;
};

}  // namespace simgpu
