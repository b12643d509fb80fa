#include "simgpu/exec/touched_memory.h"

#include <algorithm>
#include <iterator>

namespace simgpu {
namespace {

/// A launch that touches more is not worth keeping in mind.
constexpr std::size_t kMostAllocations = 1024;

}  // namespace

/// Allocations are aligned and apart by more than a sector, so that a run of sectors, of which each
/// was asked for, lies in one.
void TouchedMemory::add(const TrafficEntry& entry, Bases& bases) const {
  const std::uint64_t address = kDeviceBase + entry.sector() * kSectorBytes;
  if (address >= bases.base && address < bases.end) return;
  const Allocation* allocation = memory_.find(address);
  if (allocation == nullptr || bases.known.size() == kMostAllocations) {
    bases.complete = false;
    return;
  }
  bases.base = allocation->base;
  bases.end = allocation->base + allocation->bytes;
  bases.known.insert(allocation->base);
}

void TouchedMemory::add_loads(const TrafficLog& log) {
  using Kind = TrafficEntry::Kind;
  if (log.unlogged_reads != 0) read_.complete = false;
  for (const TrafficEntry& entry : log.entries) {
    const bool loads =
        entry.kind == Kind::load || entry.kind == Kind::touch || entry.kind == Kind::strong_load;
    if (loads || entry.kind == Kind::atomic) add(entry, read_);
  }
}

void TouchedMemory::add_stores(const TrafficLog& log) {
  using Kind = TrafficEntry::Kind;
  if (log.unlogged_writes != 0) written_.complete = false;
  for (const TrafficEntry& entry : log.entries) {
    const bool stores = entry.kind == Kind::store || entry.kind == Kind::strong_store;
    if (stores || entry.kind == Kind::atomic) add(entry, written_);
  }
}

void TouchedMemory::note_changes(DeviceMemory& memory) const {
  if (!written_.complete) memory.note_change_anywhere();
  for (const std::uint64_t base : written_.known) memory.note_change(base);
}

std::optional<std::vector<std::uint64_t>> TouchedMemory::constant() const {
  std::vector<std::uint64_t> both;
  std::ranges::set_intersection(read_.known, written_.known, std::back_inserter(both));
  if (!read_.complete || !written_.complete || !both.empty()) return std::nullopt;
  std::vector<std::uint64_t> all;
  std::ranges::set_union(read_.known, written_.known, std::back_inserter(all));
  return all;
}

}  // namespace simgpu
