#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "simgpu/isa/lowered.h"

namespace simgpu {

/// Which lanes of a warp run, and which wait for them: the sides of a divergent branch run one
/// after the other and meet again at the branch's immediate post-dominator.
///
/// An entry is a set of lanes, where they go on, and where they meet those below them. Every push
/// splits the lanes of the top, so 32 lanes never need more than 2 * 32 entries.
class SimtStack {
 public:
  struct Entry {
    std::uint32_t next = 0;
    std::uint32_t meet = kNowhere;
    std::uint32_t lanes = 0;
    bool operator==(const Entry&) const = default;
  };

  void reset(std::uint32_t lanes) {
    depth_ = 1;
    entries_[0] = {0, kNowhere, lanes};
  }

  std::uint32_t active() const { return entries_[depth_ - 1].lanes; }
  /// Active or waiting.
  std::uint32_t all_lanes() const;
  bool empty() const { return depth_ == 0; }

  /// Where the active lanes really go on when they have come to `next`: there, unless they have to
  /// wait for others first.
  std::uint32_t arrive(std::uint32_t next) {
    while (next == entries_[depth_ - 1].meet) {
      --depth_;
      next = entries_[depth_ - 1].next;
    }
    return next;
  }

  /// The active lanes part: `lanes` (some, not all) go to `target`, the others to `other`; they
  /// meet at `meet`. Returns where to go on. The side that jumps runs first.
  std::uint32_t split(std::uint32_t lanes, std::uint32_t target, std::uint32_t other,
                      std::uint32_t meet);

  /// `lanes` (some of the active ones) are done for good. Returns where the rest goes on, given
  /// that what is left of the active lanes would go to `next`; kNowhere when no lane is left at
  /// all.
  std::uint32_t end_lanes(std::uint32_t lanes, std::uint32_t next);

  /// All entries, to be kept while the active lanes are in a function.
  std::span<const Entry> entries() const { return {entries_.data(), depth_}; }
  /// Back to entries that were kept, without the lanes that have exited since. Empty when no lane
  /// is left.
  void restore(std::span<const Entry> entries, std::uint32_t exited);
  /// Only `lanes` stay, each where it is: for lanes that go their own way from here.
  void keep_lanes(std::uint32_t lanes);
  /// Of `lanes`, those that wait for others further up, nearest to the top: at one place.
  std::uint32_t waiting_lanes(std::uint32_t lanes = ~0U) const;
  /// Whether lanes that waiting_lanes() gave have been where the active ones are to meet them, and
  /// where that is; else they have parted from these and not run yet.
  bool have_come_to_meet(std::uint32_t lanes, std::uint32_t& where) const;
  /// Lanes from elsewhere become active with those that are, and will meet whom they meet.
  void add_lanes(std::uint32_t lanes);
  /// Lanes from elsewhere wait with those of one entry.
  void add_lanes_at(std::size_t entry, std::uint32_t lanes) { entries_.at(entry).lanes |= lanes; }
  /// Where the lanes on top go on that have waited for others until now.
  std::uint32_t next() { return arrive(entries_[depth_ - 1].next); }

 private:
  void push(const Entry& entry) { entries_.at(depth_++) = entry; }

  std::array<Entry, 68> entries_{};
  std::uint32_t depth_ = 0;
};

}  // namespace simgpu
