#include "simgpu/replay/launch_track.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "simgpu/exec/messages.h"
#include "simgpu/exec/places.h"
#include "simgpu/exec/thread_block.h"
#include "simgpu/replay/fold.h"
#include "simgpu/replay/value_types.h"

namespace simgpu::replay {
namespace {

constexpr std::size_t kMostKept = 3000;  ///< steps of a warp
constexpr std::size_t kMostBytes = std::size_t{32} << 20;
constexpr std::size_t kMostTouches = 4000;  ///< of a side of a race, that are compared

template <typename Each>
void each_lane(std::uint32_t lanes, const Each& each) {
  for (; lanes != 0; lanes &= lanes - 1) each(static_cast<unsigned>(std::countr_zero(lanes)));
}

Dim3 coordinates(std::uint64_t index, const Dim3& shape) {
  return {static_cast<std::uint32_t>(index % shape.x),
          static_cast<std::uint32_t>(index / shape.x % shape.y),
          static_cast<std::uint32_t>(index / shape.x / shape.y)};
}

std::uint64_t value_in(const std::byte* registers, const SlotRange& slot, unsigned lane) {
  if (slot.bytes == kPredicateBytes) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, registers + slot.offset, sizeof(bits));
    return bits >> lane & 1U;
  }
  if (slot.bytes == kWideBytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, registers + slot.offset + std::size_t{lane} * sizeof(value), sizeof(value));
    return value;
  }
  std::uint32_t value = 0;
  std::memcpy(&value, registers + slot.offset + std::size_t{lane} * sizeof(value), sizeof(value));
  return value;
}

std::size_t bytes_of(const Step& step) {
  std::size_t bytes = sizeof(Step);
  for (const auto* values : {&step.before, &step.registers}) {
    for (const RegisterValues& one : *values) bytes += sizeof(one) + 8 * one.values.size();
  }
  for (const Access& one : step.accesses) bytes += sizeof(one) + 8 * one.addresses.size();
  for (const auto* stores : {&step.others, &step.shared}) {
    for (const SharedBytes& one : *stores) bytes += sizeof(one) + one.bytes.size();
  }
  return bytes;
}

/// Types that a variable of the source does not tell apart are the same.
ValueType sort_of(ValueType type) {
  if (type == ValueType::s32) return ValueType::u32;
  return type == ValueType::s64 ? ValueType::u64 : type;
}

/// Where the values of a step come from.
void note_origins(Step& step) {
  const auto loads = std::ranges::count(step.accesses, Action::load, &Access::action);
  for (std::size_t i = 0; i < step.registers.size(); ++i) {
    RegisterValues& values = step.registers[i];
    values.place = step.place;
    values.number = step.number;
    values.loads = static_cast<std::uint32_t>(loads);
    values.is_last =
        values.is_last && std::none_of(step.registers.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                       step.registers.end(), [&](const RegisterValues& later) {
                                         return later.is_last &&
                                                sort_of(later.type) == sort_of(values.type);
                                       });
  }
}

/// A barrier for warps, rather than for lanes.
bool is_block_barrier(std::string_view spelling) {
  return spelling.starts_with("bar") && spelling.find("warp") == std::string_view::npos;
}

bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

/// Where a lane's address is in Access::addresses.
std::size_t rank(std::uint32_t lanes, unsigned lane) {
  return static_cast<std::size_t>(std::popcount(lanes & ((1U << lane) - 1U)));
}

bool has_lane(std::uint32_t lanes, std::uint32_t lane) { return (lanes >> lane & 1U) != 0; }

}  // namespace

LaunchTrack::LaunchTrack(const LaunchContext& launch, const std::vector<WatchedWarp>& warps)
    : launch_(launch),
      types_(value_types(launch.kernel)),
      updaters_(updaters(launch.kernel)),
      places_(launch.kernel.info.instructions.size()) {
  for (const WatchedWarp& who : warps) {
    BlockTrack* block = block_of(who.block);
    if (block == nullptr) block = &blocks_.emplace_back(BlockTrack{.block = who.block});
    if (track_of(who.block, who.warp) != nullptr) continue;
    warps_.push_back({.who = who, .block = static_cast<std::uint32_t>(block - blocks_.data())});
  }
  describe(recording_);
}

void LaunchTrack::describe(Recording& recording) const {
  const KernelInfo& info = launch_.kernel.info;
  recording.kernel = info.name;
  recording.grid = launch_.request.grid;
  recording.block = launch_.request.block;
  recording.shared_bytes = info.static_shared_bytes + launch_.request.dynamic_shared_bytes;
  const auto parameters = std::as_bytes(launch_.request.parameters);
  for (std::size_t i = 0; i < info.parameter_offsets.size(); ++i) {
    const std::size_t first = info.parameter_offsets[i], count = info.parameter_sizes.at(i);
    if (first + count > parameters.size()) break;
    Parameter& parameter = recording.parameters.emplace_back();
    parameter.bytes.resize(count);
    std::memcpy(parameter.bytes.data(), parameters.data() + first, count);
  }
  for (const KernelInfo::SharedArray& array : info.shared_arrays) {
    recording.arrays.push_back(
        {.name = plain_name(array.name), .offset = array.offset, .bytes = array.bytes});
  }
  if (info.files) recording.files = *info.files;
  for (const WarpTrack& track : warps_) {
    recording.warps.push_back({.block = track.block, .warp = track.who.warp, .registers = {}});
  }
  for (const BlockTrack& track : blocks_) {
    recording.blocks.push_back({.index = coordinates(track.block, recording.grid), .shared = {}});
  }
}

LaunchTrack::WarpTrack* LaunchTrack::track_of(std::uint64_t block, std::uint32_t warp) {
  const auto found = std::ranges::find(warps_, WatchedWarp{block, warp}, &WarpTrack::who);
  return found == warps_.end() ? nullptr : &*found;
}

const LaunchTrack::WarpTrack* LaunchTrack::track_of(const WatchedWarp& warp) const {
  const auto found = std::ranges::find(warps_, warp, &WarpTrack::who);
  return found == warps_.end() ? nullptr : &*found;
}

LaunchTrack::BlockTrack* LaunchTrack::block_of(std::uint64_t block) {
  const auto found = std::ranges::find(blocks_, block, &BlockTrack::block);
  return found == blocks_.end() ? nullptr : &*found;
}

/// @returns kNone where nothing is known of its source
std::uint32_t LaunchTrack::place_of(std::uint32_t pc) {
  const KernelInfo& kernel = launch_.kernel.info;
  if (pc >= places_.size()) return kNone;
  const InstructionInfo& info = kernel.instructions[pc];
  if (info.line == 0) return kNone;
  if (places_[pc] != 0) return places_[pc] - 1;
  const auto [known, is_new] = known_places_.try_emplace(
      {info.file, info.line, info.call}, static_cast<std::uint32_t>(recording_.places.size()));
  if (is_new) {
    recording_.places.push_back(
        {.file = info.file, .line = info.line, .inlined_at = site_of(kernel, pc).inlined_at});
  }
  places_[pc] = known->second + 1;
  return known->second;
}

bool LaunchTrack::continues(const Lowered& in, const Warp& warp) const {
  const WarpTrack* const track = track_of({warp.block->position.block(), warp.index});
  if (track == nullptr || !track->open || track->ended_by_barrier) return false;
  const Step& step = track->open->step;
  const InstructionInfo& info = launch_.kernel.info.instructions[in.index];
  const bool goes_back = step.instructions > 0 && in.index <= track->last_index;
  if (goes_back || warp.active != step.active) return false;
  if (info.line == 0 || step.place == kNone) return true;
  return places_[in.index] == step.place + 1;
}

void LaunchTrack::before(const Lowered& in, const Warp& warp) {
  block_now_ = warp.block->position.block();
  now_ = track_of(block_now_, warp.index);
  stores_now_.clear();
  if (now_ == nullptr || launch_.kernel.hidden[in.index] != 0) return;
  for (WarpTrack& other : warps_) {
    if (&other != now_) close(other);
  }
  const std::uint32_t place = place_of(in.index);
  if (!continues(in, warp)) {
    close(*now_);
    open(*now_, in, warp);
  }
  if (now_->open->step.place == kNone) now_->open->step.place = place;
}

void LaunchTrack::open(WarpTrack& track, const Lowered& in, const Warp& warp) {
  BlockTrack& block = blocks_[track.block];
  Step step;
  step.warp = static_cast<std::uint32_t>(&track - warps_.data());
  step.number = track.steps++;
  step.place = place_of(in.index);
  step.active = warp.active;
  step.exited = warp.dead;
  step.interval = block.interval;
  step.others = block.others.take_runs();
  track.open = Kept{.id = count_++, .step = std::move(step)};
  track.ended_by_barrier = false;
  track.last_index = in.index;
}

void LaunchTrack::close(WarpTrack& track) {
  if (!track.open) return;
  Kept kept = *std::exchange(track.open, std::nullopt);
  kept.step.shared = blocks_[track.block].own.take_runs();
  note_origins(kept.step);
  kept.bytes = bytes_of(kept.step);
  bytes_ += kept.bytes;
  kept_.push_back(std::move(kept));
  track.kept.push_back(std::prev(kept_.end()));
  while (track.kept.size() > 1 && (track.kept.size() > kMostKept || bytes_ > kMostBytes)) {
    forget_oldest(track);
  }
}

/// What it has written is what later steps find.
void LaunchTrack::forget_oldest(WarpTrack& track) {
  const auto oldest = track.kept.front();
  track.kept.pop_front();
  track.forgot = true;
  add_step(track.start, oldest->step);
  add_left_out(track.left_out, oldest->step);
  std::vector<SharedBytes> stores = std::move(oldest->step.others);
  add_stores(stores, oldest->step.shared);
  if (oldest == kept_.begin()) {
    blocks_[track.block].start.store(stores);
  } else {
    const auto next = std::find_if(std::next(oldest), kept_.end(), [&](const Kept& later) {
      return warps_[later.step.warp].block == track.block;
    });
    if (next != kept_.end()) {
      add_stores(stores, next->step.others);
      next->step.others = std::move(stores);
    }
  }
  bytes_ -= oldest->bytes;
  kept_.erase(oldest);
}

void LaunchTrack::after(const Lowered& in, const Warp& warp, std::uint32_t lanes) {
  commit_stores(warp, in.index);
  if (now_ == nullptr || !now_->open || launch_.kernel.hidden[in.index] != 0) return;
  Step& step = now_->open->step;
  ++step.instructions;
  now_->last_index = in.index;
  note_registers(in, warp, lanes, step);
  if (is_block_barrier(launch_.kernel.spellings[in.index])) {
    step.is_barrier = now_->ended_by_barrier = true;
  }
}

void LaunchTrack::commit_stores(const Warp& warp, std::uint32_t pc) {
  BlockTrack* const block = block_of(block_now_);
  if (block == nullptr || stores_now_.empty()) return;
  const BlockMemory& memory = warp.block->memory;
  SharedImage& image = now_ != nullptr ? block->own : block->others;
  for (const Stretch& stretch : stores_now_) {
    if (std::uint64_t{stretch.first} + stretch.bytes > memory.shared_bytes()) continue;
    const auto* const first =
        reinterpret_cast<const std::uint8_t*>(memory.shared() + stretch.first);
    image.store(stretch.first, {first, stretch.bytes}, warp.index, place_of(pc));
  }
  stores_now_.clear();
}

void LaunchTrack::note_registers(const Lowered& in, const Warp& warp, std::uint32_t lanes,
                                 Step& step) {
  const InstructionInfo& info = launch_.kernel.info.instructions[in.index];
  const std::string_view spelling = launch_.kernel.spellings[in.index];
  const bool only_moves = !info.issues || spelling.starts_with("selp") ||
                          (spelling.starts_with("mov") && !info.reads.empty());
  for (const std::uint32_t reg : info.writes) {
    if (reg >= launch_.kernel.registers.size() || lanes == 0) continue;
    RegisterValues written{.reg = reg, .type = types_[reg], .lanes = lanes, .values = {}};
    each_lane(lanes, [&](unsigned lane) {
      written.values.push_back(value_in(warp.regs, launch_.kernel.registers[reg].slot, lane));
    });
    written.is_last = !only_moves;
    if (updaters_[reg] != kNone) {
      now_->series[reg].write(updaters_[reg] == in.index, written);
    }
    add_values(step.registers, written);
  }
}

void LaunchTrack::accessed(Space space, Action action, const WarpAccess& access) {
  if (space == Space::shared && changes_memory(action) && block_of(block_now_) != nullptr) {
    each_lane(access.mask, [&](unsigned lane) {
      stores_now_.push_back({static_cast<std::uint32_t>((*access.address)[lane]), access.bytes});
    });
  }
  if (now_ == nullptr || !now_->open) return;
  Access noted{.space = space,
               .action = action,
               .bytes = access.bytes,
               .pc = access.pc,
               .lanes = access.mask,
               .addresses = {}};
  each_lane(access.mask,
            [&](unsigned lane) { noted.addresses.push_back((*access.address)[lane]); });
  now_->open->step.accesses.push_back(std::move(noted));
}

void LaunchTrack::passed_barrier() {
  if (BlockTrack* const block = block_of(block_now_)) ++block->interval;
}

template <typename Look>
void LaunchTrack::look_back(const WarpTrack& track, const Look& look) const {
  if (track.open && look(*track.open)) return;
  for (auto kept = track.kept.rbegin(); kept != track.kept.rend(); ++kept) {
    if (look(**kept)) return;
  }
}

std::optional<StepMark> LaunchTrack::find(const WatchedWarp& warp, std::uint32_t pc,
                                          std::uint32_t lane, std::uint64_t address,
                                          std::uint64_t bytes) const {
  const WarpTrack* const track = track_of(warp);
  std::optional<StepMark> found;
  if (track == nullptr) return found;
  look_back(*track, [&](const Kept& kept) {
    for (std::size_t i = kept.step.accesses.size(); i-- > 0 && !found;) {
      const Access& access = kept.step.accesses[i];
      if (access.pc != pc || !has_lane(access.lanes, lane)) continue;
      const std::uint64_t at = access.addresses[rank(access.lanes, lane)];
      if (bytes != 0 && !overlap(at, access.bytes, address, bytes)) continue;
      found = StepMark{kept.id, lane, static_cast<std::uint32_t>(i)};
    }
    return found.has_value();
  });
  return found;
}

bool LaunchTrack::is_at(const Step& step, const AccessSite& site) const {
  if (step.place == kNone) return false;
  const Place& place = recording_.places[step.place];
  return place.line == site.line && recording_.files.at(place.file) == site.file;
}

std::optional<StepMark> LaunchTrack::find(const Side& side) const {
  const WarpTrack* const track = track_of(side.warp);
  std::optional<StepMark> by_access, by_place, last;
  if (track == nullptr) return last;
  look_back(*track, [&](const Kept& kept) {
    if (!last) last = StepMark{kept.id, side.lane, kNone};
    if (!is_at(kept.step, *side.site)) return false;
    if (!by_place) by_place = StepMark{kept.id, side.lane, kNone};
    for (std::size_t i = kept.step.accesses.size(); i-- > 0 && !by_access;) {
      if (!has_lane(kept.step.accesses[i].lanes, side.lane)) continue;
      by_access = StepMark{kept.id, side.lane, static_cast<std::uint32_t>(i)};
    }
    return by_access.has_value();
  });
  return by_access ? by_access : by_place ? by_place : last;
}

std::vector<StepMark> LaunchTrack::find_pair(const Side& one, const Side& other) const {
  struct Touch {
    StepMark mark;
    Space space;
    Action action;
    std::uint64_t address, bytes;
  };
  const auto touches = [&](const Side& side, bool by_any_lane) {
    std::vector<Touch> found;
    const WarpTrack* const track = track_of(side.warp);
    if (track == nullptr) return found;
    look_back(*track, [&](const Kept& kept) {
      if (!is_at(kept.step, *side.site)) return false;
      for (std::size_t i = kept.step.accesses.size(); i-- > 0;) {
        const Access& access = kept.step.accesses[i];
        each_lane(by_any_lane ? access.lanes : access.lanes & 1U << side.lane, [&](unsigned lane) {
          found.push_back({{kept.id, lane, static_cast<std::uint32_t>(i)},
                           access.space,
                           access.action,
                           access.addresses[rank(access.lanes, lane)],
                           access.bytes});
        });
      }
      return found.size() > kMostTouches;
    });
    return found;
  };
  for (const bool by_any_lane : {false, true}) {
    const std::vector<Touch> ones = touches(one, by_any_lane), others = touches(other, by_any_lane);
    for (const Touch& a : ones) {
      for (const Touch& b : others) {
        const bool same = a.space == b.space && overlap(a.address, a.bytes, b.address, b.bytes);
        const bool both_read = a.action == Action::load && b.action == Action::load;
        if (same && !both_read) return {a.mark, b.mark};
      }
    }
  }
  return {};
}

/// Addresses in global memory count from the beginning of their allocation.
void LaunchTrack::name_allocations(Recording& recording) const {
  std::map<std::uint64_t, std::uint32_t> known;  // by base
  for (Step& step : recording.steps) {
    for (Access& access : step.accesses) {
      if (access.space != Space::global || access.addresses.empty()) continue;
      const Allocation* const found = launch_.memory.find(access.addresses.front(), 1);
      if (found == nullptr) continue;
      const auto [at, is_new] =
          known.try_emplace(found->base, static_cast<std::uint32_t>(recording.allocations.size()));
      if (is_new) recording.allocations.push_back({found->base, found->bytes, found->label});
      access.allocation = at->second;
      for (std::uint64_t& address : access.addresses) address -= found->base;
    }
  }
}

Recording LaunchTrack::finish(const std::vector<StepMark>& marks) {
  for (WarpTrack& track : warps_) close(track);
  Recording recording = std::move(recording_);
  // Warps' steps are closed in another order than they began where one is cut off by another.
  kept_.sort([](const Kept& a, const Kept& b) { return a.id < b.id; });
  std::map<std::uint64_t, std::uint32_t> numbers;
  for (Kept& kept : kept_) {
    numbers[kept.id] = static_cast<std::uint32_t>(recording.steps.size());
    recording.steps.push_back(std::move(kept.step));
  }
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    recording.warps[i].registers = std::move(warps_[i].start);
    recording.warps[i].left_out = std::move(warps_[i].left_out);
    recording.begins_late = recording.begins_late || warps_[i].forgot;
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    recording.blocks[i].shared = blocks_[i].start.runs();
  }
  for (const StepMark& mark : marks) {
    const auto number = numbers.find(mark.step);
    if (number != numbers.end()) {
      recording.marks.push_back({number->second, mark.lane, mark.access});
    }
  }
  name_allocations(recording);
  return recording;
}

}  // namespace simgpu::replay
