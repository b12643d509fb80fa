#include "simgpu/exec/kept_stores.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

/// Of all blocks together; what is compared is far less.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kMostRanges = std::size_t{1} << 20;
/// More than any call has tensors.

std::uint64_t end_of(const ByteRange& range) { return range.address + range.bytes; }

/// Ranges as they are found. A block may store to one place again and again.
class RangeList {
 public:
  void add(std::uint64_t address, std::uint64_t bytes) {
    if (!ranges_.empty() && end_of(ranges_.back()) == address) {
      ranges_.back().bytes += bytes;
      return;
    }
    if (ranges_.size() >= most_) {
      merge_ranges(ranges_);
      most_ = std::max(most_, 2 * ranges_.size());
    }
    ranges_.push_back({address, bytes});
  }
  /// The units of a sector that are set in a mask, unit 0 at `address`.
  void add(std::uint64_t address, std::uint32_t mask, std::uint64_t unit_bytes) {
    for (; mask != 0; mask >>= 1U, address += unit_bytes) {
      if ((mask & 1U) != 0) add(address, unit_bytes);
    }
  }
  std::vector<ByteRange> take() {
    merge_ranges(ranges_);
    return std::move(ranges_);
  }

 private:
  std::vector<ByteRange> ranges_;
  std::size_t most_ = std::size_t{1} << 16;
};

}  // namespace

void merge_ranges(std::vector<ByteRange>& ranges) {
  std::ranges::sort(ranges, {}, &ByteRange::address);
  std::size_t kept = 0;
  for (const ByteRange& range : ranges) {
    if (kept > 0 && range.address <= end_of(ranges[kept - 1])) {
      ByteRange& before = ranges[kept - 1];
      before.bytes = std::max(end_of(before), end_of(range)) - before.address;
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

void keep_largest(std::vector<ByteRange>& ranges, std::size_t most) {
  if (ranges.size() <= most) return;
  std::ranges::sort(ranges, [](const ByteRange& a, const ByteRange& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.address < b.address;
  });
  ranges.resize(most);
  std::ranges::sort(ranges, {}, &ByteRange::address);
}

void StoredByGrid::add(const std::vector<ByteRange>& ranges, double times) {
  for (const ByteRange& range : ranges) {
    const Allocation* allocation = memory_.find(range.address);
    if (allocation == nullptr) continue;
    if (bytes_.size() == kMostStoredAllocations && !bytes_.contains(allocation->base)) continue;
    bytes_[allocation->base] += times * static_cast<double>(range.bytes);
  }
}

std::vector<ByteRange> StoredByGrid::by_allocation() const {
  std::vector<ByteRange> all;
  for (const auto& [address, bytes] : bytes_) {
    all.push_back({address, static_cast<std::uint64_t>(std::llround(bytes))});
  }
  return all;
}

std::vector<ByteRange> touched_bytes(const TrafficLog& log, KindFilter wanted) {
  RangeList ranges;
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (entry.kind == Kind::bytes || !wanted(entry.kind)) continue;
    const std::uint32_t narrow = log.narrowed_bytes(i);
    for (std::uint64_t k = 0; k < entry.count; ++k) {
      const std::uint64_t address = kDeviceBase + (entry.sector() + k) * kSectorBytes;
      if (narrow != 0) {
        ranges.add(address, narrow, 1);
      } else {
        ranges.add(address, entry.words, kWordBytes);
      }
    }
  }
  return ranges.take();
}

std::vector<ByteRange> stored_bytes(const TrafficLog& log) {
  return touched_bytes(log, is_plain_store);
}

void KeptStores::keep(const TrafficLog& log, const DeviceMemory& memory) {
  if (log.unlogged_writes != 0) return;
  const std::vector<ByteRange> ranges = stored_bytes(log);
  std::size_t bytes = 0;
  for (const ByteRange& range : ranges) bytes += range.bytes;
  if (bytes_.size() + bytes > kMostBytes || ranges_.size() + ranges.size() > kMostRanges) return;
  for (const ByteRange& range : ranges) {
    const std::byte* const from = memory.host(range.address);
    bytes_.insert(bytes_.end(), from, from + range.bytes);
  }
  ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
  ++blocks_;
  storing_ += ranges.empty() ? 0 : 1;
}

void KeptStores::put_back(DeviceMemory& memory) const {
  std::span<const std::byte> left(bytes_);
  for (const ByteRange& range : ranges_) {
    memory.write(range.address, left.first(range.bytes));
    left = left.subspan(range.bytes);
  }
}

SettledBytes KeptStores::settled(std::uint64_t blocks, const DeviceMemory& memory) const {
  if (blocks_ == 0) return {};
  SettledBytes settled{.ranges = ranges_, .of_grid = {}};
  merge_ranges(settled.ranges);
  StoredByGrid grid(memory);
  grid.add(settled.ranges, static_cast<double>(blocks) / static_cast<double>(blocks_));
  settled.of_grid = grid.by_allocation();
  return settled;
}

}  // namespace simgpu
