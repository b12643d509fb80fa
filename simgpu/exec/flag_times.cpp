#include "simgpu/exec/flag_times.h"

#include <algorithm>
#include <utility>

namespace simgpu {

void FlagTimes::clear() {
  constexpr std::size_t kFewBuckets = 1024;  // each of them is cleared, however few were used
  if (!looks_.empty()) is_seen_.reset();
  if (looks_.bucket_count() > kFewBuckets) looks_ = {};
  looks_.clear();
  looks_of_all_ = 0;
  woken_.clear();
}

std::uint64_t FlagTimes::look(std::uint64_t warp, const std::byte* place) {
  // Of very many places nobody waits for each: warps work on them.
  constexpr std::size_t kMostLooks = std::size_t{1} << 20;
  if (looks_of_all_ >= kMostLooks) clear();
  const auto [stored_at, is_new] = looks_[place].try_emplace(warp, 0);
  if (is_new) {
    ++looks_of_all_;
    is_seen_.set(bit_of(place));
  }
  return std::exchange(stored_at->second, 0);
}

std::uint64_t FlagTimes::take_first(std::uint64_t warp, const std::byte* place) {
  const auto found = looks_.find(place);
  if (found == looks_.end()) return 0;
  const auto stored_at = found->second.find(warp);
  return stored_at == found->second.end() ? 0 : std::exchange(stored_at->second, 0);
}

void FlagTimes::note_store(std::uint64_t warp, const std::byte* place, std::uint64_t time) {
  const auto found = looks_.find(place);
  if (found == looks_.end()) return;
  for (auto& [looker, stored_at] : found->second) {
    if (looker == warp || stored_at != 0) continue;
    stored_at = std::max<std::uint64_t>(time, 1);
    woken_.push_back(looker);
  }
}

}  // namespace simgpu
