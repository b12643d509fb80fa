#include "simgpu/exec/spin_detector.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace simgpu {
namespace {

bool equal(std::span<const std::byte> bytes, const std::vector<std::byte>& kept) {
  return bytes.size() == kept.size() &&
         (bytes.empty() || std::memcmp(bytes.data(), kept.data(), bytes.size()) == 0);
}

}  // namespace

void SpinDetector::begin_block() { rounds_ = kept_at_ = 0; }

bool SpinDetector::spins(const View& view) {
  ++rounds_;
  if (kept_at_ != 0 && same(view)) return true;
  if (kept_at_ == 0 || std::has_single_bit(rounds_)) keep(view);
  return false;
}

bool SpinDetector::same(const View& view) const {
  const bool needs_memory = view.control.needs_memory;
  if (needs_memory && view.changes != changes_) return false;
  if (view.warps.size() != warps_.size()) return false;
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    const Warp& warp = view.warps[i];
    const WarpPlace& kept = warps_[i];
    if (warp.resume != kept.resume || warp.dead != kept.dead || warp.state != kept.state) {
      return false;
    }
    if (!std::ranges::equal(warp.stack.entries(), kept.stack) || warp.calls != kept.calls) {
      return false;
    }
    const auto same_group = [](const LaneState& other, const GroupPlace& group) {
      return other.resume == group.resume && other.calls == group.calls &&
             std::ranges::equal(other.stack.entries(), group.stack);
    };
    if (!std::ranges::equal(warp.others, kept.others, same_group)) return false;
    if (!same_registers(view.control, warp, registers_.data() + i * view.register_bytes)) {
      return false;
    }
  }
  if (!needs_memory) return true;
  return equal(view.shared, shared_) && equal(view.local, local_) && equal(view.frames, frames_);
}

/// Those that may be alive where any of the warp's lanes is.
bool SpinDetector::same_registers(const ControlState& control, const Warp& warp,
                                  const std::byte* kept) {
  std::vector<std::uint32_t> places;
  const auto add = [&](const LaneState& lanes) {
    if (lanes.resume != nullptr) places.push_back(lanes.resume->index);
    for (const SimtStack::Entry& entry : lanes.stack.entries()) places.push_back(entry.next);
    for (const std::uint32_t place : lanes.calls.places()) places.push_back(place);
  };
  add(warp);
  for (const LaneState& other : warp.others) add(other);
  return std::ranges::all_of(control.registers, [&](const ControlState::Register& each) {
    const bool alive = std::ranges::any_of(
        places, [&](std::uint32_t place) { return each.first <= place && place <= each.last; });
    const SlotRange& slot = each.slot;
    return !alive || std::memcmp(warp.regs + slot.offset, kept + slot.offset, slot.bytes) == 0;
  });
}

void SpinDetector::keep(const View& view) {
  kept_at_ = rounds_;
  changes_ = view.changes;
  warps_.clear();
  registers_.clear();
  for (const Warp& warp : view.warps) {
    const auto stack = warp.stack.entries();
    warps_.push_back(
        {warp.resume, warp.dead, warp.state, {stack.begin(), stack.end()}, warp.calls, {}});
    for (const LaneState& other : warp.others) {
      const auto entries = other.stack.entries();
      warps_.back().others.push_back({other.resume, {entries.begin(), entries.end()}, other.calls});
    }
    registers_.insert(registers_.end(), warp.regs, warp.regs + view.register_bytes);
  }
  shared_.assign(view.shared.begin(), view.shared.end());
  local_.assign(view.local.begin(), view.local.end());
  frames_.assign(view.frames.begin(), view.frames.end());
}

}  // namespace simgpu
