#pragma once

#include <algorithm>
#include <bit>

#include "simgpu/exec/memory_access.h"

/// What a warp that stores to flags, or looks at them, tells the block of its time.
namespace simgpu {

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

inline FlagTimes::Done done_by(const Warp& warp) {
  return {warp.slots, warp.own_time(), warp.way()};
}

/// The warp goes on no sooner than others have stored where it has looked before.
template <class Word>
void wait_for_flags(Warp& warp, const Prepared<Word>& at) {
  FlagTimes& flags = warp.block->flags();
  if (!flags.any()) [[likely]]
    return;
  FlagTimes::Wait longest;
  each_flag(at, warp.mask, [&](const std::byte* place) {
    const FlagTimes::Wait wait = flags.come_back(warp.index, place, done_by(warp));
    longest = {std::max(longest.until, wait.until), std::max(longest.time, wait.time),
               std::max(longest.way, wait.way)};
  });
  const std::uint64_t now = warp.time();
  warp.polled_time += longest.time;
  warp.polled_way += longest.way;
  warp.waited += longest.time + (longest.until > now ? longest.until - now : 0);
}

/// A look at places that others may store to, which the warp may repeat until they have.
template <class Word>
void look_at_flags(Warp& warp, const Prepared<Word>& at) {
  wait_for_flags(warp, at);
  each_flag(at, warp.mask, [&](const std::byte* place) {
    warp.block->flags().look(warp.index, place, done_by(warp));
  });
}

template <class Word>
void store_flags(Warp& warp, const Prepared<Word>& at) {
  FlagTimes& flags = warp.block->flags();
  if (!flags.any()) [[likely]]
    return;
  each_flag(at, warp.mask,
            [&](const std::byte* place) { flags.store(warp.index, place, warp.time()); });
}

}  // namespace simgpu
