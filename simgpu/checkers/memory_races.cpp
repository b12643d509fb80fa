#include "simgpu/checkers/memory_races.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "simgpu/checkers/lane_pattern.h"

namespace simgpu {
namespace {

template <typename T>
std::vector<T> repeat_each(const std::vector<T>& values, std::size_t times) {
  std::vector<T> repeated;
  repeated.reserve(values.size() * times);
  for (const T& value : values) repeated.insert(repeated.end(), times, value);
  return repeated;
}

}  // namespace

void MemoryRaces::begin_block(std::uint64_t block, std::uint32_t shared_bytes, WarpOrder& order) {
  block_ = block;
  if (copies_under_way_) {
    std::replace(write_time_.begin(), write_time_.end(), kUnderWay, Time{0});
    copies_under_way_ = false;
  }
  if (order.used_up()) {
    order.restart();
    bytes_ = 0;
    resize(0);
  }
  if (shared_bytes != bytes_) {
    bytes_ = shared_bytes;
    resize(shared_bytes);
  }
}

void MemoryRaces::begin_stretch(std::uint64_t block, std::uint64_t base, std::uint32_t bytes,
                                bool forgets) {
  block_ = block;
  base_ = base;
  if (bytes == bytes_ && !forgets) return;
  bytes_ = bytes;
  resize(bytes);
}

void MemoryRaces::resize(std::uint32_t bytes) {
  // Whole words, so that a later split into smaller units divides evenly.
  const std::size_t units = (bytes + 3) / 4 * (4 / unit_bytes_);
  write_time_.assign(units, 0);
  settled_.assign(units, 0);
  writer_.assign(units, {});
  value_.assign(units, 0);
  reader_.assign(units, {});
  other_reader_.assign(units, {});
  updates_.clear();
}

/// Makes units smaller; each new one inherits what was known of the larger.
void MemoryRaces::refine(std::uint32_t unit_bytes) {
  const std::size_t parts = unit_bytes_ / unit_bytes;
  write_time_ = repeat_each(write_time_, parts);
  settled_ = repeat_each(settled_, parts);
  writer_ = repeat_each(writer_, parts);
  reader_ = repeat_each(reader_, parts);
  other_reader_ = repeat_each(other_reader_, parts);
  updates_ = repeat_each(updates_, parts);
  std::vector<std::uint32_t> values;
  values.reserve(value_.size() * parts);
  const std::uint32_t mask = unit_bytes == 1 ? 0xffU : 0xffffU;
  for (const std::uint32_t value : value_) {
    for (std::size_t part = 0; part < parts; ++part) {
      values.push_back(value >> (8 * unit_bytes * part) & mask);
    }
  }
  value_ = std::move(values);
  unit_bytes_ = unit_bytes;
}

void MemoryRaces::access(const WarpAccess& access, const std::optional<std::int64_t>& stride,
                         const WarpOrder& order, FindingList& findings) {
  // The largest power of two, up to a word, that divides the width and every address.
  std::uint64_t bits = access.bytes;
  if (stride) {
    bits |= (*access.address)[0] | static_cast<std::uint64_t>(*stride);
  } else {
    for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
      bits |= (*access.address)[std::countr_zero(lanes)];
    }
  }
  const std::uint32_t needed = 1U << std::countr_zero(bits | 4U);
  if (needed < unit_bytes_) refine(needed);
  if (stride && (*stride == 0 || *stride == access.bytes)) {
    const std::uint32_t units = access.bytes / unit_bytes_;
    const bool same = *stride == 0;
    const Run run{.first = (*access.address)[0] / unit_bytes_,
                  .count = std::size_t{units} * (same ? 1 : kWarpSize),
                  .same = same,
                  .lane_units = units};
    const bool is_plain_load = access.kind == AccessKind::load && !access.meets_atomics;
    if (is_plain_load && read_together(run, access, order)) return;
    if (access.kind == AccessKind::store && write_together(run, access, order)) return;
  }
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    access_lane(access, static_cast<std::uint8_t>(std::countr_zero(lanes)), order, findings);
  }
}

bool MemoryRaces::written_since(const Run& run, Time interval) const {
  const Time* const time = write_time_.data() + run.first;
  std::uint32_t written = 0;
  for (std::size_t i = 0; i < run.count; ++i) {
    written |= static_cast<std::uint32_t>(time[i] >= interval);
  }
  if (!updates_.empty()) {
    const Uses* const updates = updates_.data() + run.first;
    for (std::size_t i = 0; i < run.count; ++i) {
      written |= static_cast<std::uint32_t>(updates[i].first.time >= interval);
    }
  }
  return written != 0;
}

/// The quick answer for most loads of most kernels: places that were written before the last
/// barrier, and that in this interval nobody has read, or the same lanes, or one other warp, or two
/// warps already. It leaves what read() would leave, lane by lane; false when none of that holds.
bool MemoryRaces::read_together(const Run& run, const WarpAccess& access, const WarpOrder& order) {
  const Time interval = order.interval();
  if (run.first + run.count > write_time_.size() || written_since(run, interval)) return false;
  Time* const settled = settled_.data() + run.first;
  Use* const reader = reader_.data() + run.first;
  Use* const other = other_reader_.data() + run.first;
  std::uint32_t open = 0;
  for (std::size_t i = 0; i < run.count; ++i) open |= settled[i] ^ interval;
  if (open == 0) return true;
  bool own = true;  // to those who read before: nobody, or the same lanes of this warp
  bool second = true;
  for (std::size_t i = 0; i < run.count; ++i) {
    const bool first_read = reader[i].time < interval;
    const bool no_other = other[i].time < interval;
    const Site& by = reader[i].site;
    const Site& by_other = other[i].site;
    const bool mine =
        by.warp == access.warp && by.lane == run.lane(i) &&
        (no_other || !run.same || (by_other.warp == access.warp && by_other.lane == 1));
    own = own && (first_read || mine);
    second = second && !first_read && by.warp != access.warp && no_other && !by.meets_atomics;
  }
  if (!own && !second) return false;
  const Time now = order.time(access.warp);
  for (std::size_t i = 0; i < run.count; ++i) {
    const Use use{now, site_of(access, run.lane(i))};
    (own ? reader[i] : other[i]) = use;
    if (second) settled[i] = interval;
    // Two lanes stand for all of a broadcast: whoever stores there is at most one of them.
    if (own && run.same) other[i] = {now, site_of(access, 1)};
  }
  return true;
}

/// The same for stores, each lane to a place of its own: nobody has touched it in this interval but
/// the lane itself.
bool MemoryRaces::write_together(const Run& run, const WarpAccess& access, const WarpOrder& order) {
  if (run.same || access.values == nullptr || run.first + run.count > write_time_.size()) {
    return false;
  }
  const Time interval = order.interval();
  const auto untouched = [&](Time time, const Site& by, std::size_t i) {
    return time < interval ||
           (time != kUnderWay && by.warp == access.warp && by.lane == run.lane(i));
  };
  bool free = true;
  for (std::size_t i = 0; i < run.count; ++i) {
    const std::size_t unit = run.first + i;
    free = free && untouched(write_time_[unit], writer_[unit], i) &&
           !updated_since(unit, interval) && untouched(reader_[unit].time, reader_[unit].site, i) &&
           untouched(other_reader_[unit].time, other_reader_[unit].site, i);
  }
  if (!free) return false;
  const Time now = order.time(access.warp);
  for (std::size_t i = 0; i < run.count; ++i) {
    const std::size_t unit = run.first + i;
    write_time_[unit] = now;
    writer_[unit] = site_of(access, run.lane(i));
    std::uint32_t value = 0;
    std::memcpy(&value, access.values + i * unit_bytes_, unit_bytes_);
    value_[unit] = value;
  }
  return true;
}

void MemoryRaces::access_lane(const WarpAccess& access, std::uint8_t lane, const WarpOrder& order,
                              FindingList& findings) {
  const std::size_t first = (*access.address)[lane] / unit_bytes_;
  const std::size_t count = access.bytes / unit_bytes_;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t unit = first + i;
    if (unit >= write_time_.size()) return;  // the engine refuses such an access
    if (reads(access.kind)) {
      read(unit, access, lane, order, findings);
      continue;
    }
    std::uint32_t value = 0;
    if (access.values != nullptr) {
      std::memcpy(&value, access.values + std::size_t{lane} * access.bytes + i * unit_bytes_,
                  unit_bytes_);
    }
    write(unit, value, access, lane, order, findings);
  }
}

/// One of two uses that races with an access; one of another warp before one of its own, so that a
/// pair within a warp is told only where no other was seen.
const MemoryRaces::Use* MemoryRaces::racing(const Use& first, const Use& second,
                                            const WarpAccess& access, std::uint8_t lane,
                                            const WarpOrder& order) {
  const Use* within_warp = nullptr;
  for (const Use* use : {&first, &second}) {
    if (order.ordered(use->time, use->site.warp, use->site.lane, access.warp, lane)) continue;
    if (use->site.warp != access.warp) return use;
    if (within_warp == nullptr) within_warp = use;
  }
  return within_warp;
}

/// A use that is ordered before this one need not be kept: who races with it races with this one
/// too, unless this one is allowed more. Of others, those stay that more accesses race with.
void MemoryRaces::keep(Use& first, Use& second, const Use& now, const WarpOrder& order) {
  const auto is_replaced = [&](const Use& use) {
    if (use.time < order.interval()) return true;
    return (use.site.meets_atomics || !now.site.meets_atomics) &&
           order.ordered(use.time, use.site.warp, use.site.lane, now.site.warp, now.site.lane);
  };
  const bool one_warp = second.site.warp == first.site.warp;
  const bool one_thread = one_warp && second.site.lane == first.site.lane;
  const bool says_more = second.site.meets_atomics && (one_thread || !now.site.meets_atomics);
  const bool of_another_warp = one_warp && now.site.warp != first.site.warp;
  if (is_replaced(first)) {
    first = now;
  } else if (is_replaced(second) || says_more ||
             (of_another_warp && (second.site.meets_atomics || !now.site.meets_atomics))) {
    second = now;
  } else if (first.site.meets_atomics && !now.site.meets_atomics) {
    first = now;
  }
}

void MemoryRaces::read(std::size_t unit, const WarpAccess& access, std::uint8_t lane,
                       const WarpOrder& order, FindingList& findings) {
  const Time interval = order.interval();
  const bool updates = access.kind == AccessKind::atomic;
  if (!updates && write_time_[unit] < interval && !updated_since(unit, interval)) {
    if (settled_[unit] == interval) return;
    // Nor is a third lane of the warp kept, of those that read the place together.
    const auto together = [&](const Use& use) {
      return use.time == order.time(access.warp) && use.site.warp == access.warp &&
             use.site.lane != lane && (access.meets_atomics || !use.site.meets_atomics);
    };
    if (together(reader_[unit]) && together(other_reader_[unit])) return;
  }
  const Use writer{write_time_[unit], writer_[unit]};
  if (writer.time == kUnderWay ||
      !order.ordered(writer.time, writer.site.warp, writer.site.lane, access.warp, lane)) {
    const bool copied = writer.site.kind == AccessKind::copy;
    report(copied ? Code("RL0313") : codes_.read_early, unit, writer, access, lane, findings);
  }
  if (updates) return update(unit, access, lane, order, findings);
  if (!access.meets_atomics && updated_since(unit, interval)) {
    const Uses& by = updates_[unit];
    const Use* const other = racing(by.first, by.second, access, lane, order);
    if (other != nullptr) report(codes_.read_early, unit, *other, access, lane, findings);
  }
  Use& reader = reader_[unit];
  Use& other = other_reader_[unit];
  keep(reader, other, {order.time(access.warp), site_of(access, lane)}, order);
  const auto is_settled = [&](const Use& use) {
    return use.time >= interval && !use.site.meets_atomics;
  };
  if (is_settled(reader) && is_settled(other) && other.site.warp != reader.site.warp) {
    settled_[unit] = interval;
  }
}

/// An atomic, or another strong access that stores.
void MemoryRaces::update(std::size_t unit, const WarpAccess& access, std::uint8_t lane,
                         const WarpOrder& order, FindingList& findings) {
  for (const Use* use : {&reader_[unit], &other_reader_[unit]}) {
    const bool races = !use->site.meets_atomics &&
                       !order.ordered(use->time, use->site.warp, use->site.lane, access.warp, lane);
    if (!races) continue;
    report(codes_.overwritten, unit, *use, access, lane, findings);
    break;
  }
  if (updates_.empty()) updates_.resize(write_time_.size());
  Uses& by = updates_[unit];
  const Use now{order.time(access.warp), site_of(access, lane)};
  keep(by.first, by.second, now, order);
}

void MemoryRaces::write(std::size_t unit, std::uint32_t value, const WarpAccess& access,
                        std::uint8_t lane, const WarpOrder& order, FindingList& findings) {
  const Use* reader = racing(reader_[unit], other_reader_[unit], access, lane, order);
  if (reader == nullptr && !updates_.empty()) {
    reader = racing(updates_[unit].first, updates_[unit].second, access, lane, order);
  }
  if (reader != nullptr) report(codes_.overwritten, unit, *reader, access, lane, findings);
  const Use writer{write_time_[unit], writer_[unit]};
  const bool same_value = access.values != nullptr && value_[unit] == value;
  const bool is_copy = access.kind == AccessKind::copy;
  if (writer.time == kUnderWay) {
    // Lanes of one copy may bring the same bytes, as those do that cooperative groups have left
    // over.
    if (is_copy && same_value) return;
    report("RL0313", unit, writer, access, lane, findings);
  } else if (!same_value && racing(writer, writer, access, lane, order) != nullptr) {
    report(codes_.stored_twice, unit, writer, access, lane, findings);
  }
  copies_under_way_ = copies_under_way_ || is_copy;
  write_time_[unit] = is_copy ? kUnderWay : order.time(access.warp);
  writer_[unit] = site_of(access, lane);
  value_[unit] = value;
}

void MemoryRaces::copy_done(const WarpAccess& access, const WarpOrder& order) {
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint8_t>(std::countr_zero(lanes));
    const std::size_t first = (*access.address)[lane] / unit_bytes_;
    for (std::size_t unit = first; unit < first + access.bytes / unit_bytes_; ++unit) {
      const Site& writer = writer_[unit];
      const bool own = writer.warp == access.warp && writer.lane == lane && writer.pc == access.pc;
      if (own && write_time_[unit] == kUnderWay) write_time_[unit] = order.time(access.warp);
    }
  }
}

void MemoryRaces::report(Code code, std::size_t unit, const Use& other, const WarpAccess& access,
                         std::uint8_t lane, FindingList& findings) const {
  RawFinding finding = finding_at(code, access, block_, lane, base_ + unit * unit_bytes_);
  set_other(finding, block_, other.site);
  findings.add(finding);
}

}  // namespace simgpu
