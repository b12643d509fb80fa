#include "simgpu/exec/simt_stack.h"

#include <algorithm>

namespace simgpu {

std::uint32_t SimtStack::split(std::uint32_t lanes, std::uint32_t target, std::uint32_t other,
                               std::uint32_t meet) {
  const Entry parent = entries_[depth_ - 1];
  const std::uint32_t rest = parent.lanes & ~lanes;
  if (meet == kNowhere || meet == parent.meet) {
    // Nobody has to wait between here and the place where the entry below is waiting already.
    --depth_;
  } else {
    entries_[depth_ - 1].next = meet;
  }
  if (other != meet) push({other, meet == kNowhere ? parent.meet : meet, rest});
  if (target != meet) push({target, meet == kNowhere ? parent.meet : meet, lanes});
  return entries_[depth_ - 1].next;
}

std::uint32_t SimtStack::end_lanes(std::uint32_t lanes, std::uint32_t next) {
  entries_[depth_ - 1].next = next;
  for (std::uint32_t i = 0; i < depth_; ++i) entries_[i].lanes &= ~lanes;
  while (depth_ > 0 && entries_[depth_ - 1].lanes == 0) --depth_;
  if (depth_ == 0) return kNowhere;
  return arrive(entries_[depth_ - 1].next);
}

std::uint32_t SimtStack::all_lanes() const {
  std::uint32_t lanes = 0;
  for (const Entry& entry : entries()) lanes |= entry.lanes;
  return lanes;
}

void SimtStack::keep_lanes(std::uint32_t lanes) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < depth_; ++i) {
    entries_[kept] = entries_[i];
    entries_[kept].lanes &= lanes;
    if (entries_[kept].lanes != 0) ++kept;
  }
  depth_ = kept;
}

std::uint32_t SimtStack::waiting_lanes(std::uint32_t lanes) const {
  if (depth_ == 0) return 0;
  std::uint32_t above = active();
  for (std::uint32_t i = depth_ - 1; i-- > 0; above |= entries_[i].lanes) {
    const std::uint32_t waiting = entries_[i].lanes & ~above;
    if ((waiting & lanes) != 0) return waiting;
  }
  return 0;
}

bool SimtStack::have_come_to_meet(std::uint32_t lanes, std::uint32_t& where) const {
  std::uint32_t i = depth_;
  while (i-- > 0) {
    if ((entries_[i].lanes & lanes) != 0) break;
  }
  where = entries_[i].next;
  return (entries_[i].lanes & active()) != 0;
}

void SimtStack::add_lanes(std::uint32_t lanes) {
  // Every entry that holds an active lane: siblings of the top wait for nobody in it.
  const std::uint32_t top = active();
  for (std::uint32_t i = 0; i < depth_; ++i) {
    if ((entries_[i].lanes & top) != 0) entries_[i].lanes |= lanes;
  }
}

void SimtStack::restore(std::span<const Entry> entries, std::uint32_t exited) {
  depth_ = static_cast<std::uint32_t>(entries.size());
  std::copy(entries.begin(), entries.end(), entries_.begin());
  for (std::uint32_t i = 0; i < depth_; ++i) entries_[i].lanes &= ~exited;
  while (depth_ > 0 && entries_[depth_ - 1].lanes == 0) --depth_;
}

}  // namespace simgpu
