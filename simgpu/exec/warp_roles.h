#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/counters/load_counts.h"

namespace simgpu {

/// What the warps of one block of threads did.
struct BlockOfWarps {
  std::size_t warps = 0;
  std::span<const std::uint64_t> entered;   ///< by basic block of the program and, in each, by warp
  std::span<const LoadsOfWarps> loads;      ///< by instruction that has loaded something
  std::span<const std::uint64_t> slept_ns;  ///< by warp
};

/// Warps that enter the same basic blocks, and what that takes at most: in each block of threads it
/// is as much of everything as the warp does that does most of it.
struct WarpRole {
  std::uint64_t key = 0;     ///< of the basic blocks
  std::uint64_t blocks = 0;  ///< of threads that have such warps
  // Of all these blocks together:
  std::vector<std::uint64_t> entered;  ///< by basic block of the program
  LoadCountsByPc loads;                ///< but for what became of them in L2
  std::uint64_t slept_ns = 0;

  void add(const BlockOfWarps& block, std::span<const bool> of_role);
  void add_times(const WarpRole& other, std::uint64_t times);
};

/// The roles of a launch's warps, and how blocks of threads are made up of them. A mean over all
/// warps would hide what one does behind others that wait for it or do something else.
class WarpRoles {
 public:
  /// Where there are more, all warps are taken to be of one role.
  static constexpr std::size_t kMostRoles = 16, kMostMixes = 64;

  /// Blocks whose warps have the same roles.
  struct Mix {
    std::vector<std::uint64_t> keys;  ///< in order
    std::uint64_t blocks = 0;
  };

  void add(const BlockOfWarps& block);
  /// The blocks of another part of the launch, each so often.
  void add_times(const WarpRoles& other, std::uint64_t times);

  /// Each has a role; nothing before a block was added.
  std::vector<WarpRole> roles() const;
  std::vector<Mix> mixes() const;

 private:
  WarpRole& role_of(std::uint64_t key);
  void add_mix(const std::vector<std::uint64_t>& keys, std::uint64_t blocks);
  void leave_out_too_many();

  WarpRole all_;  ///< as if all were of one
  std::vector<WarpRole> roles_;
  std::vector<Mix> mixes_;
  bool too_many_ = false;
};

}  // namespace simgpu
