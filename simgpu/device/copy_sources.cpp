#include "simgpu/device/copy_sources.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace simgpu {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

/// Whether nothing overflows, and no row lies in another.
bool is_sensible(const CopySources::Rows& rows) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  return rows.height > 0 && rows.width > 0 && rows.width <= rows.pitch && rows.height <= kMost &&
         rows.pitch <= kMost / rows.height;
}

std::uint64_t extent(const CopySources::Rows& rows) {
  return rows.pitch * (rows.height - 1) + rows.width;
}

bool is_pinned(const CopySources::Rows& rows, const DeviceMemory& memory) {
  const Allocation* const allocation = memory.find(rows.address, extent(rows));
  return allocation != nullptr && allocation->sharing == Sharing::pinned;
}

bool overlap(const CopySources::Rows& a, const CopySources::Rows& b) {
  return a.address < b.address + extent(b) && b.address < a.address + extent(a);
}

/// The first byte of a copy that its source no longer holds.
std::optional<std::uint64_t> first_change(const CopySources::Copy& copy,
                                          const DeviceMemory& memory) {
  for (std::uint64_t row = 0; row < copy.rows.height; ++row) {
    const std::byte* const kept = copy.bytes.data() + row * copy.rows.width;
    const std::byte* const now = memory.host(copy.rows.address + row * copy.rows.pitch);
    if (std::memcmp(kept, now, copy.rows.width) == 0) continue;
    // The guest may be writing: what differed a moment ago need not differ any more.
    const auto differs = std::mismatch(kept, kept + copy.rows.width, now).first;
    if (differs == kept + copy.rows.width) continue;
    return static_cast<std::uint64_t>(differs - copy.bytes.data());
  }
  return std::nullopt;
}

}  // namespace

void CopySources::add(Copy copy, const DeviceMemory& memory) {
  const Rows& rows = copy.rows;
  if (!is_sensible(rows) || rows.bytes() > kMostBytes || !is_pinned(rows, memory)) return;
  copy.bytes.resize(rows.bytes());
  for (std::uint64_t row = 0; row < rows.height; ++row) {
    std::memcpy(copy.bytes.data() + row * rows.width, memory.host(rows.address + row * rows.pitch),
                rows.width);
  }
  kept_bytes_ += copy.bytes.size();
  outstanding_.push_back(std::move(copy));
  while (kept_bytes_ > kMostBytes) {
    kept_bytes_ -= outstanding_.front().bytes.size();
    outstanding_.pop_front();
  }
}

template <class Choose>
void CopySources::drop_if(const Choose& choose) {
  std::erase_if(outstanding_, [&](const Copy& copy) {
    if (!choose(copy)) return false;
    kept_bytes_ -= copy.bytes.size();
    return true;
  });
}

template <class Choose>
std::vector<CopySources::Change> CopySources::take_changed_if(const DeviceMemory& memory,
                                                              const Choose& choose) {
  std::vector<Change> changes;
  drop_if([&](const Copy& copy) {
    if (!is_pinned(copy.rows, memory)) return true;
    if (!choose(copy)) return false;
    const auto first = first_change(copy, memory);
    if (first) changes.push_back({copy.rows, copy.stream_number, *first});
    return first.has_value();
  });
  return changes;
}

std::vector<CopySources::Change> CopySources::take_changed(const DeviceMemory& memory) {
  return take_changed_if(memory, [](const Copy&) { return true; });
}

std::vector<CopySources::Change> CopySources::take_changed(const DeviceMemory& memory,
                                                           const Rows& rows) {
  if (!is_sensible(rows)) return {};
  return take_changed_if(memory, [&](const Copy& copy) { return overlap(copy.rows, rows); });
}

void CopySources::drop_written(const Rows& rows) {
  if (!is_sensible(rows)) return;
  drop_if([&](const Copy& copy) { return overlap(copy.rows, rows); });
}

void CopySources::drop_done(const StreamOrder& order) {
  drop_if([&](const Copy& copy) { return order.is_done(copy.stamp); });
}

void CopySources::drop_before(std::uint64_t stream, const StreamRaces::Node& node,
                              const StreamOrder& order) {
  drop_if([&](const Copy& copy) {
    return StreamRaces::is_before(copy.stamp, copy.node, stream, node, order);
  });
}

}  // namespace simgpu
