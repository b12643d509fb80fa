#include "simgpu/device/host_sources.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace simgpu {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
/// Every wait of the host looks at all of them, and each takes room beside its bytes.
constexpr std::size_t kMostReads = std::size_t{1} << 14;

/// Whether nothing overflows, and no row lies in another.
bool is_sensible(const HostSources::Rows& rows) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  return rows.height > 0 && rows.width > 0 && rows.width <= rows.pitch && rows.height <= kMost &&
         rows.pitch <= kMost / rows.height;
}

std::uint64_t extent(const HostSources::Rows& rows) {
  return rows.pitch * (rows.height - 1) + rows.width;
}

bool is_shared(const HostSources::Rows& rows, const DeviceMemory& memory) {
  const Allocation* const allocation = memory.find(rows.address, extent(rows));
  return allocation != nullptr && allocation->sharing != Sharing::none;
}

bool overlap(const HostSources::Rows& a, const HostSources::Rows& b) {
  return a.address < b.address + extent(b) && b.address < a.address + extent(a);
}

/// The first byte that is no longer what was read.
std::optional<std::uint64_t> first_change(const HostSources::Read& read,
                                          const DeviceMemory& memory) {
  for (std::uint64_t row = 0; row < read.rows.height; ++row) {
    const std::byte* const kept = read.bytes.data() + row * read.rows.width;
    const std::byte* const now = memory.host(read.rows.address + row * read.rows.pitch);
    if (std::memcmp(kept, now, read.rows.width) == 0) continue;
    // The guest may be writing: what differed a moment ago need not differ any more.
    const auto differs = std::mismatch(kept, kept + read.rows.width, now).first;
    if (differs == kept + read.rows.width) continue;
    return static_cast<std::uint64_t>(differs - read.bytes.data());
  }
  return std::nullopt;
}

}  // namespace

void HostSources::add(Read read, const DeviceMemory& memory) {
  const Rows& rows = read.rows;
  if (!is_sensible(rows) || rows.bytes() > kMostBytes || !is_shared(rows, memory)) return;
  read.bytes.resize(rows.bytes());
  for (std::uint64_t row = 0; row < rows.height; ++row) {
    std::memcpy(read.bytes.data() + row * rows.width, memory.host(rows.address + row * rows.pitch),
                rows.width);
  }
  kept_bytes_ += read.bytes.size();
  outstanding_.push_back(std::move(read));
  while (kept_bytes_ > kMostBytes || outstanding_.size() > kMostReads) {
    kept_bytes_ -= outstanding_.front().bytes.size();
    outstanding_.pop_front();
  }
}

template <class Choose>
void HostSources::drop_if(const Choose& choose) {
  std::erase_if(outstanding_, [&](const Read& read) {
    if (!choose(read)) return false;
    kept_bytes_ -= read.bytes.size();
    return true;
  });
}

template <class Choose>
std::vector<HostSources::Change> HostSources::take_changed_if(const DeviceMemory& memory,
                                                              const Choose& choose) {
  std::vector<Change> changes;
  drop_if([&](const Read& read) {
    if (!choose(read)) return false;
    if (!is_shared(read.rows, memory)) return true;
    const auto first = first_change(read, memory);
    if (first) changes.push_back({read.rows, read.by, read.stream_number, *first, read.where});
    return first.has_value();
  });
  return changes;
}

std::vector<HostSources::Change> HostSources::take_changed(const DeviceMemory& memory) {
  return take_changed_if(memory, [](const Read&) { return true; });
}

std::vector<HostSources::Change> HostSources::take_changed(const DeviceMemory& memory,
                                                           const Rows& rows) {
  if (!is_sensible(rows)) return {};
  return take_changed_if(memory, [&](const Read& read) { return overlap(read.rows, rows); });
}

void HostSources::drop_written(const Rows& rows) {
  if (!is_sensible(rows)) return;
  drop_if([&](const Read& read) { return overlap(read.rows, rows); });
}

void HostSources::drop_done(const StreamOrder& order) {
  drop_if([&](const Read& read) { return order.is_done(read.stamp); });
}

void HostSources::drop_before(std::uint64_t stream, const StreamRaces::Node& node,
                              const StreamOrder& order) {
  drop_if([&](const Read& read) {
    return StreamRaces::is_before(read.stamp, read.node, stream, node, order);
  });
}

}  // namespace simgpu
