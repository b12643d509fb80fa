#include "simgpu/exec/flag_times.h"

#include <algorithm>
#include <utility>

namespace simgpu {

void FlagTimes::clear() {
  constexpr std::size_t kFewBuckets = 1024;  // each of them is cleared, however few were used
  if (!looks_.empty()) is_seen_.reset();
  if (looks_.bucket_count() > kFewBuckets) looks_ = {};
  looks_.clear();
  woken_.clear();
}

FlagTimes::Look* FlagTimes::find(std::uint64_t warp, const std::byte* place) {
  const auto found = looks_.find(place);
  if (found == looks_.end()) return nullptr;
  const auto look = std::ranges::find(found->second, warp, &Look::warp);
  return look == found->second.end() ? nullptr : &*look;
}

void FlagTimes::look(std::uint64_t warp, const std::byte* place) {
  // Of very many places a block does not wait for each: it works on them. No shared memory has as
  // many bytes.
  constexpr std::size_t kMostPlaces = std::size_t{1} << 18;
  if (find(warp, place) != nullptr) return;
  if (looks_.size() >= kMostPlaces) clear();
  is_seen_.set(bit_of(place));
  looks_[place].push_back({.warp = warp});
}

std::uint64_t FlagTimes::take_first(std::uint64_t warp, const std::byte* place) {
  Look* const look = find(warp, place);
  return look == nullptr ? 0 : std::exchange(look->stored_at, 0);
}

void FlagTimes::note_store(std::uint64_t warp, const std::byte* place, std::uint64_t time) {
  const auto found = looks_.find(place);
  if (found == looks_.end()) return;
  for (Look& look : found->second) {
    if (look.warp == warp || look.stored_at != 0) continue;
    look.stored_at = std::max<std::uint64_t>(time, 1);
    woken_.push_back(look.warp);
  }
}

}  // namespace simgpu
