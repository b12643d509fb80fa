#include "simgpu/exec/kept_stores.h"

#include <algorithm>
#include <span>
#include <utility>

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

/// Of all blocks together; what is compared is far less.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kMostRanges = std::size_t{1} << 20;

std::uint64_t end_of(const ByteRange& range) { return range.address + range.bytes; }

/// Sorts them, and makes one of those that overlap or touch.
void merge(std::vector<ByteRange>& ranges) {
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

/// Ranges as they are found. A block may store to one place again and again.
class RangeList {
 public:
  void add(std::uint64_t address, std::uint64_t bytes) {
    if (!ranges_.empty() && end_of(ranges_.back()) == address) {
      ranges_.back().bytes += bytes;
      return;
    }
    if (ranges_.size() >= most_) {
      merge(ranges_);
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
    merge(ranges_);
    return std::move(ranges_);
  }

 private:
  std::vector<ByteRange> ranges_;
  std::size_t most_ = std::size_t{1} << 16;
};

}  // namespace

std::vector<ByteRange> stored_bytes(const TrafficLog& log) {
  RangeList ranges;
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (entry.kind != Kind::store) continue;
    const bool narrow = i + 1 < log.entries.size() && log.entries[i + 1].kind == Kind::bytes;
    for (std::uint64_t k = 0; k < entry.count; ++k) {
      const std::uint64_t address = kDeviceBase + (entry.sector() + k) * kSectorBytes;
      if (narrow) {
        ranges.add(address, log.entries[i + 1].byte_mask(), 1);
      } else {
        ranges.add(address, entry.words, kWordBytes);
      }
    }
  }
  return ranges.take();
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
}

void KeptStores::put_back(DeviceMemory& memory) const {
  std::span<const std::byte> left(bytes_);
  for (const ByteRange& range : ranges_) {
    memory.write(range.address, left.first(range.bytes));
    left = left.subspan(range.bytes);
  }
}

SettledBytes KeptStores::settled(std::uint64_t blocks) const {
  SettledBytes settled{.ranges = ranges_, .whole_blocks = blocks_, .blocks = blocks};
  merge(settled.ranges);
  return settled;
}

}  // namespace simgpu
