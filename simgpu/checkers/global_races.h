#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/checkers/findings.h"
#include "simgpu/checkers/memory_races.h"
#include "simgpu/checkers/warp_order.h"

namespace simgpu {

/// Races in global memory between the threads of one block (RL0316). Memory is watched in windows,
/// as many as the block's warps need at a time; what a block touched before its last barrier needs
/// none. If a block touches more than that between two barriers, what is known of the window that
/// it touched longest ago is packed (KeptRaces), and unpacked when it is touched again; likewise
/// when records would take more than `most_bytes`, for many blocks may be watched at a time. Packed
/// windows beyond that are forgotten, and races with them are missed, which is told (RL0615): with
/// 64 MiB, those are hundreds of MiB that warps walk through, or a few that they touch at random,
/// from barrier to barrier. What is found depends on the block alone.
class GlobalRaces {
 public:
  explicit GlobalRaces(std::size_t most_bytes = ~std::size_t{0}) : most_bytes_(most_bytes) {}
  void begin_block(std::uint64_t block, std::uint32_t warps);
  /// Times begin anew: everything is forgotten.
  void forget_all() {
    ways_.clear();
    kept_.clear();
    held_bytes_ = kept_bytes_ = 0;
  }
  /// Windows of this block in which races were missed, if there were any.
  std::uint64_t forgotten_windows() const { return forgotten_windows_; }
  /// Memory that the records take.
  std::size_t held_bytes() const { return held_bytes_ + kept_bytes_; }
  /// @param stride the lanes' distance, where it is known to be the same throughout
  void access(const WarpAccess& access, const std::optional<std::int64_t>& stride,
              const WarpOrder& order, FindingList& findings);

 private:
  static constexpr std::uint32_t kWindowBytes = 512;  ///< what a warp reads 16 bytes at a time
  static constexpr std::uint32_t kWays = 4;
  static constexpr std::uint32_t kWindowsPerWarp = 16;
  static constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20;

  struct Window {
    std::uint64_t number = ~std::uint64_t{0};  ///< address / kWindowBytes
    std::uint64_t block = ~std::uint64_t{0};
    WarpOrder::Time used_until = 0;  ///< no access in it is later
    std::uint64_t last_use = 0;
    std::size_t held_bytes = 0;
    MemoryRaces races{{"RL0316", "RL0316", "RL0316"}};
  };
  Window& window_of(std::uint64_t number, const WarpOrder& order);
  void access_within(std::uint64_t number, const WarpAccess& access,
                     const std::optional<std::int64_t>& stride, const WarpOrder& order,
                     FindingList& findings);
  void make_room_beside(const Window& kept, WarpOrder::Time interval);
  void keep(const Window& window, WarpOrder::Time interval);
  void restore(Window& window, const WarpOrder& order);

  std::size_t most_bytes_;
  std::size_t held_bytes_ = 0;
  std::uint64_t block_ = 0;
  std::uint64_t uses_ = 0;
  std::unordered_map<std::uint64_t, KeptRaces> kept_;  ///< by window, since the last barrier
  WarpOrder::Time kept_since_ = 0;
  std::size_t kept_bytes_ = 0;
  std::uint64_t forgotten_windows_ = 0;
  std::vector<Window> ways_;  ///< kWays of each set, one after the other
};

}  // namespace simgpu
