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

}  // namespace simgpu
