#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace simgpu {

/// When warps store what others wait for: flags, locks, mbarriers. A warp that looks at a place
/// again and again until another has stored there comes no sooner than that. Of the warps of a
/// block, or of all blocks that run by turns.
class FlagTimes {
 public:
  void clear();
  /// Whether any warp has looked anywhere.
  bool any() const { return !looks_.empty(); }
  /// The warp looks at a place, and may do so again until another has stored there.
  /// @param warp its number among all whose times these are
  /// @returns take_first()
  std::uint64_t look(std::uint64_t warp, const std::byte* place);
  /// @returns the time of the first store of another warp since this one has looked; 0 where it has
  /// not, or none has stored. Those behind it may be for others: who waits for several stores looks
  /// again.
  std::uint64_t take_first(std::uint64_t warp, const std::byte* place);
  void store(std::uint64_t warp, const std::byte* place, std::uint64_t time) {
    if (is_seen_[bit_of(place)]) note_store(warp, place, time);
  }
  /// The warps that have looked where another has stored since this was asked last.
  std::vector<std::uint64_t> take_woken() { return std::exchange(woken_, {}); }

 private:
  /// By warp, when another has stored since its look; 0: nobody.
  using StoredAt = std::unordered_map<std::uint64_t, std::uint64_t>;

  static constexpr std::size_t kBits = 4096;

  static std::size_t bit_of(const std::byte* place) {
    return reinterpret_cast<std::uintptr_t>(place) / sizeof(std::uint32_t) % kBits;
  }
  void note_store(std::uint64_t warp, const std::byte* place, std::uint64_t time);

  std::unordered_map<const std::byte*, StoredAt> looks_;
  std::size_t looks_of_all_ = 0;  ///< warps in looks_, of all places together
  std::vector<std::uint64_t> woken_;
  std::bitset<kBits> is_seen_;  ///< of each place in looks_ its bit: most stores are elsewhere
};

}  // namespace simgpu
