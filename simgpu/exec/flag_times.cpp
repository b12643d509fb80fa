#include "simgpu/exec/flag_times.h"

#include <algorithm>
#include <utility>

namespace simgpu {

FlagTimes::Look* FlagTimes::find(std::uint16_t warp, const std::byte* place) {
  const auto found = looks_.find(place);
  if (found == looks_.end()) return nullptr;
  const auto look = std::ranges::find(found->second, warp, &Look::warp);
  return look == found->second.end() ? nullptr : &*look;
}

void FlagTimes::look(std::uint16_t warp, const std::byte* place, const Done& done) {
  // Of very many places a block does not wait for each: it works on them.
  constexpr std::size_t kMostPlaces = 4096;
  if (Look* const known = find(warp, place); known != nullptr) {
    known->last = done;
    return;
  }
  if (looks_.size() >= kMostPlaces) looks_.clear();
  looks_[place].push_back({.warp = warp, .last = done, .wait = {}});
}

FlagTimes::Wait FlagTimes::come_back(std::uint16_t warp, const std::byte* place, const Done& done) {
  // Who does more between two looks works meanwhile.
  constexpr std::uint64_t kMostSlotsOfAPoll = 64;
  Look* const look = find(warp, place);
  if (look == nullptr) return {};
  if (done.slots - look->last.slots <= kMostSlotsOfAPoll) {
    look->wait.time += done.time - look->last.time;
    look->wait.way += done.way - look->last.way;
  }
  look->last = done;
  return look->wait.until == 0 ? Wait{} : std::exchange(look->wait, {});
}

void FlagTimes::store(std::uint16_t warp, const std::byte* place, std::uint64_t time) {
  const auto found = looks_.find(place);
  if (found == looks_.end()) return;
  for (Look& look : found->second) {
    if (look.warp != warp) look.wait.until = std::max(look.wait.until, time);
  }
}

}  // namespace simgpu
