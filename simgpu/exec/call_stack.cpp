#include "simgpu/exec/call_stack.h"

#include <span>

#include "simgpu/exec/lanes.h"

namespace simgpu {
void CallStack::clear() {
  frames_.clear();
  entries_.clear();
  registers_.clear();
}

void CallStack::push(const Warp& warp, const Return& caller, const std::vector<SlotRange>& saved) {
  frames_.push_back({caller, entries_.size(), registers_.size()});
  const std::span<const SimtStack::Entry> entries = warp.stack.entries();
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  for (const SlotRange& slot : saved) {
    const std::byte* const from = warp.regs + slot.offset;
    registers_.insert(registers_.end(), from, from + slot.bytes);
  }
}

void CallStack::pop(Warp& warp, const std::vector<SlotRange>& saved) {
  const std::byte* kept = registers_.data() + frames_.back().registers;
  for (const SlotRange& slot : saved) {
    write_slot(warp, slot, kept);
    kept += slot.bytes;
  }
  drop(warp);
}

void CallStack::drop(Warp& warp) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  warp.stack.restore(std::span(entries_).subspan(frame.entries), warp.dead);
  entries_.resize(frame.entries);
  registers_.resize(frame.registers);
}

std::span<const SimtStack::Entry> CallStack::entries_of(std::size_t frame) const {
  const std::size_t first = frames_[frame].entries;
  const std::size_t end = frame + 1 < frames_.size() ? frames_[frame + 1].entries : entries_.size();
  return std::span(entries_).subspan(first, end - first);
}

std::uint32_t CallStack::lanes() const {
  std::uint32_t lanes = 0;
  for (const SimtStack::Entry& entry : entries_) lanes |= entry.lanes;
  return lanes;
}

std::vector<std::uint32_t> CallStack::places() const {
  std::vector<std::uint32_t> places;
  for (const Frame& frame : frames_) {
    if (frame.caller.call != nullptr) places.push_back(frame.caller.call->index);
  }
  for (const SimtStack::Entry& entry : entries_) places.push_back(entry.next);
  return places;
}

void CallStack::keep_lanes(std::uint32_t lanes) {
  std::vector<SimtStack::Entry> kept;
  for (std::size_t frame = 0; frame < frames_.size(); ++frame) {
    const std::span<const SimtStack::Entry> entries = entries_of(frame);
    const std::size_t first = kept.size();
    for (SimtStack::Entry entry : entries) {
      entry.lanes &= lanes;
      if (entry.lanes != 0) kept.push_back(entry);
    }
    frames_[frame].entries = first;
  }
  entries_ = std::move(kept);
}

CallStack::Waiting CallStack::find_waiting(std::uint32_t lanes) const {
  Waiting waiting;
  for (std::size_t frame = frames_.size(); frame-- > 0;) {
    waiting.stack.restore(entries_of(frame), 0);
    waiting.lanes = waiting.stack.waiting_lanes(lanes);
    waiting.depth = frame;
    if (waiting.lanes != 0) break;
  }
  return waiting;
}

void CallStack::truncate(std::size_t depth) {
  if (depth >= frames_.size()) return;
  entries_.resize(frames_[depth].entries);
  registers_.resize(frames_[depth].registers);
  frames_.resize(depth);
}

}  // namespace simgpu
