#include "simgpu/checkers/global_races.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace simgpu {

void GlobalRaces::begin_block(std::uint64_t block, std::uint32_t warps) {
  block_ = block;
  kept_.clear();
  kept_bytes_ = 0;
  forgotten_windows_ = 0;
  const std::size_t windows = std::bit_ceil(std::size_t{kWindowsPerWarp} * std::max(warps, 1U));
  if (ways_.size() != windows) {
    forget_all();
    ways_.resize(windows);
  }
}

/// The window's record: its own, or that of one whose accesses all lie before the last barrier, or
/// else that of the one unused for longest.
GlobalRaces::Window& GlobalRaces::window_of(std::uint64_t number, const WarpOrder& order) {
  const std::size_t sets = ways_.size() / kWays;
  // Neighbouring windows lie in different sets, and so do the same places of arrays whose distance
  // is a power of two.
  const std::uint64_t hash = number ^ number >> 7 ^ number >> 17;
  const auto first = ways_.begin() + static_cast<std::ptrdiff_t>((hash & (sets - 1)) * kWays);
  const auto is_over = [&](const Window& way) { return way.used_until < order.interval(); };
  auto way =
      std::find_if(first, first + kWays, [&](const Window& one) { return one.number == number; });
  if (way == first + kWays) [[unlikely]] {
    way = std::min_element(first, first + kWays, [&](const Window& a, const Window& b) {
      return is_over(a) != is_over(b) ? is_over(a) : a.last_use < b.last_use;
    });
    const bool forgets = !is_over(*way);
    if (forgets) keep(*way, order.interval());
    way->races.begin_stretch(block_, number * kWindowBytes, kWindowBytes, forgets);
    way->number = number;
    way->block = block_;
    if (!kept_.empty()) restore(*way, order);
  } else if (way->block != block_) {
    way->races.begin_stretch(block_, number * kWindowBytes, kWindowBytes, false);
    way->block = block_;
  }
  // No warp's time is later than the block's next barrier.
  way->used_until = order.latest();
  way->last_use = ++uses_;
  return *way;
}

void GlobalRaces::access_within(std::uint64_t number, const WarpAccess& access,
                                const std::optional<std::int64_t>& stride, const WarpOrder& order,
                                FindingList& findings) {
  Window& window = window_of(number, order);
  window.races.access(access, stride, order, findings);
  const std::size_t bytes = window.races.record_bytes();
  if (bytes == window.held_bytes) [[likely]]
    return;
  held_bytes_ += bytes - window.held_bytes;
  window.held_bytes = bytes;
  if (held_bytes() > most_bytes_) make_room_beside(window, order.interval());
}

/// The window has to make room.
void GlobalRaces::keep(const Window& window, WarpOrder::Time interval) {
  if (kept_since_ != interval) {
    kept_.clear();
    kept_bytes_ = 0;
    kept_since_ = interval;
  }
  KeptRaces races = window.races.keep_since(interval);
  if (races.runs.empty()) return;
  kept_bytes_ += races.bytes();
  kept_.insert_or_assign(window.number, std::move(races));
  const std::size_t most = std::min(kMostKeptBytes, most_bytes_ / 2);
  while (kept_bytes_ > most && !kept_.empty()) {
    kept_bytes_ -= kept_.begin()->second.bytes();
    kept_.erase(kept_.begin());
    ++forgotten_windows_;
  }
}

void GlobalRaces::restore(Window& window, const WarpOrder& order) {
  const auto known = kept_.find(window.number);
  if (known == kept_.end()) return;
  if (kept_since_ == order.interval()) window.races.restore(known->second);
  kept_bytes_ -= known->second.bytes();
  kept_.erase(known);
}

/// Frees an eighth more than needed, so that the next windows come without a search.
void GlobalRaces::make_room_beside(const Window& kept, WarpOrder::Time interval) {
  std::vector<Window*> used;
  for (Window& way : ways_) {
    if (way.held_bytes > 0 && &way != &kept) used.push_back(&way);
  }
  std::ranges::sort(used, {}, &Window::last_use);
  for (Window* way : used) {
    if (held_bytes() <= most_bytes_ - most_bytes_ / 8) return;
    if (way->used_until >= interval) keep(*way, interval);
    held_bytes_ -= way->held_bytes;
    *way = Window();
  }
}

void GlobalRaces::access(const WarpAccess& access, const std::optional<std::int64_t>& stride,
                         const WarpOrder& order, FindingList& findings) {
  std::array<std::uint64_t, kWarpSize> offsets;  // of the lanes that take part
  WarpAccess part = access;
  part.address = &offsets;
  if (stride) {
    const std::uint64_t number = access.address->front() / kWindowBytes;
    if (access.address->back() / kWindowBytes == number) {
      const std::uint64_t base = number * kWindowBytes;
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        offsets[lane] = (*access.address)[lane] - base;
      }
      access_within(number, part, stride, order, findings);
      return;
    }
  }
  for (std::uint32_t left = access.mask; left != 0;) {
    const std::uint64_t number = (*access.address)[std::countr_zero(left)] / kWindowBytes;
    part.mask = 0;
    for (std::uint32_t lanes = left; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      const std::uint64_t address = (*access.address)[lane];
      if (address / kWindowBytes != number) continue;
      part.mask |= 1U << lane;
      offsets[lane] = address % kWindowBytes;
    }
    left &= ~part.mask;
    const bool whole = part.mask == access.mask;
    access_within(number, part, whole ? stride : std::optional<std::int64_t>(), order, findings);
  }
}

}  // namespace simgpu
