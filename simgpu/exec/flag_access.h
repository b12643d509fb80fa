#pragma once

#include <algorithm>
#include <bit>

#include "simgpu/exec/memory_access.h"

/// What a warp that stores to flags, or looks at them, tells others of its time.
namespace simgpu {

/// Its number among the warps whose times flag_times() has.
inline std::uint64_t flag_number(const Warp& warp) {
  return warp.block->first_flag_number + warp.index;
}

/// Calls visit(place) for each lane of `lanes`, the same place once for lanes in a row.
template <class Word, class Visit>
void each_flag(const Prepared<Word>& at, std::uint32_t lanes, Visit visit) {
  const std::byte* last = nullptr;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::byte* const place = at.lane(static_cast<unsigned>(std::countr_zero(lanes)));
    if (place != last) visit(place);
    last = place;
  }
}

/// The time now, as flag_times() has it.
inline std::uint64_t flag_time(const Warp& warp) { return warp.block->begins_at + warp.time(); }

/// The warp goes on no sooner than the last of what ask(place) gives for its lanes' places.
template <class Word, class Ask>
void wait_until_stored(Warp& warp, const Prepared<Word>& at, Ask ask) {
  std::uint64_t last = 0;
  each_flag(at, warp.mask, [&](const std::byte* place) { last = std::max(last, ask(place)); });
  const std::uint64_t now = flag_time(warp);
  if (last > now) warp.waited += last - now;
}

/// The warp goes on no sooner than others have stored where it has looked before.
template <class Word>
void wait_for_flags(Warp& warp, const Prepared<Word>& at) {
  FlagTimes& flags = warp.block->flag_times();
  if (!flags.any()) [[likely]]
    return;
  wait_until_stored(
      warp, at, [&](const std::byte* place) { return flags.take_first(flag_number(warp), place); });
}

/// Likewise, and it may repeat its look until they have stored again.
template <class Word>
void look_at_flags(Warp& warp, const Prepared<Word>& at) {
  FlagTimes& flags = warp.block->flag_times();
  wait_until_stored(warp, at,
                    [&](const std::byte* place) { return flags.look(flag_number(warp), place); });
}

/// @param lanes whose stores others may wait for
template <class Word>
void store_flags(Warp& warp, const Prepared<Word>& at, std::uint32_t lanes) {
  FlagTimes& flags = warp.block->flag_times();
  if (!flags.any()) [[likely]]
    return;
  const std::uint64_t now = flag_time(warp);
  each_flag(at, lanes, [&](const std::byte* place) { flags.store(flag_number(warp), place, now); });
}

}  // namespace simgpu
