#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace simgpu {

/// When the warps of a block store what others of it wait for: flags, locks, mbarriers. A warp that
/// looks at a place again and again until another has stored there comes no sooner than that.
class FlagTimes {
 public:
  void clear();
  /// Whether any warp has looked anywhere.
  bool any() const { return !looks_.empty(); }
  /// The warp has looked at a place, and may do so again until another has stored there.
  void look(std::uint16_t warp, const std::byte* place);
  /// @returns the time of the first store of another warp since this one has looked; 0 where it has
  /// not, or none has stored. Those behind it may be for others: who waits for several stores looks
  /// again.
  std::uint64_t take_first(std::uint16_t warp, const std::byte* place);
  void store(std::uint16_t warp, const std::byte* place, std::uint64_t time);

 private:
  struct Look {
    std::uint16_t warp = 0;
    std::uint64_t stored_at = 0;  ///< 0: nobody has stored since
  };
  Look* find(std::uint16_t warp, const std::byte* place);

  std::unordered_map<const std::byte*, std::vector<Look>> looks_;
};

}  // namespace simgpu
