#include "simgpu/device/host_traffic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#include "simgpu/counters/traffic_log.h"
#include "simgpu/exec/kept_stores.h"

namespace simgpu {
namespace {

/// Of all managed memory; more counts as written by the host.
constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20;

/// The sharing of sectors that come in order.
class SharedSectors {
 public:
  explicit SharedSectors(const DeviceMemory& memory) : memory_(memory) {}
  Sharing of(std::uint64_t address) {
    if (address < begin_ || address >= end_) {
      const Allocation* allocation = memory_.find(address);
      if (allocation == nullptr) return Sharing::none;
      begin_ = allocation->base;
      end_ = allocation->base + allocation->bytes;
      sharing_ = allocation->sharing;
    }
    return sharing_;
  }

 private:
  const DeviceMemory& memory_;
  std::uint64_t begin_ = 0, end_ = 0;  ///< of the allocation that was found last
  Sharing sharing_ = Sharing::none;
};

bool overlaps(const std::vector<ByteRange>& ranges, std::uint64_t address, std::uint64_t bytes) {
  auto after = std::ranges::lower_bound(ranges, address + bytes, {}, &ByteRange::address);
  if (after == ranges.begin()) return false;
  const ByteRange& last = *std::prev(after);
  return last.address + last.bytes > address;
}

void append(std::vector<ByteRange>& ranges, std::uint64_t address, std::uint64_t bytes) {
  if (!ranges.empty() && ranges.back().address + ranges.back().bytes == address) {
    ranges.back().bytes += bytes;
  } else {
    ranges.push_back({address, bytes});
  }
}

/// What of `ranges` lies in none of `others`; both are in order and apart from each other.
std::vector<ByteRange> outside(const std::vector<ByteRange>& ranges,
                               const std::vector<ByteRange>& others) {
  std::vector<ByteRange> left;
  auto other = others.begin();
  for (const ByteRange& range : ranges) {
    std::uint64_t at = range.address;
    const std::uint64_t end = at + range.bytes;
    while (other != others.end() && other->address + other->bytes <= at) ++other;
    for (auto next = other; next != others.end() && next->address < end; ++next) {
      if (next->address > at) append(left, at, next->address - at);
      at = std::max(at, next->address + next->bytes);
    }
    if (at < end) append(left, at, end - at);
  }
  return left;
}

/// The sectors of an allocation that differ from what was kept; all was zero when it was made.
void append_changes(const DeviceMemory& memory, const Allocation& allocation,
                    const std::vector<std::byte>* kept, std::vector<ByteRange>& changes) {
  static constexpr std::array<std::byte, kSectorBytes> kZeros{};
  for (std::uint64_t at = 0; at < allocation.bytes; at += kSectorBytes) {
    const std::uint64_t bytes = std::min(kSectorBytes, allocation.bytes - at);
    const std::byte* const before = kept == nullptr ? kZeros.data() : kept->data() + at;
    if (std::memcmp(memory.host(allocation.base + at), before, bytes) == 0) continue;
    append(changes, allocation.base + at, bytes);
  }
}

}  // namespace

void ManagedContents::keep(const DeviceMemory& memory, std::vector<ByteRange> touched) {
  if (!memory.shares_memory()) return;
  merge_ranges(touched);
  waiting_ = outside(written_by_host(memory), touched);
  kept_.clear();
  std::uint64_t total = 0;
  for (const Allocation& allocation : memory.live_allocations()) {
    if (allocation.sharing != Sharing::managed) continue;
    total += allocation.bytes;
    if (total > kMostKept) continue;
    const std::byte* const from = memory.host(allocation.base);
    kept_[allocation.base].assign(from, from + allocation.bytes);
  }
}

std::vector<ByteRange> ManagedContents::written_by_host(const DeviceMemory& memory) const {
  if (!memory.shares_memory()) return {};
  std::vector<ByteRange> changes;
  std::uint64_t total = 0;
  for (const Allocation& allocation : memory.live_allocations()) {
    if (allocation.sharing != Sharing::managed) continue;
    total += allocation.bytes;
    if (total > kMostKept) {
      append(changes, allocation.base, allocation.bytes);
      continue;
    }
    const auto kept = kept_.find(allocation.base);
    append_changes(memory, allocation, kept == kept_.end() ? nullptr : &kept->second, changes);
  }
  if (waiting_.empty()) return changes;
  std::ranges::copy_if(waiting_, std::back_inserter(changes), [&](const ByteRange& range) {
    const Allocation* allocation = memory.find(range.address);
    return allocation != nullptr && allocation->sharing == Sharing::managed;
  });
  merge_ranges(changes);
  return changes;
}

std::vector<ByteRange> touched_bytes(const LaunchResult& result, const DeviceMemory& memory) {
  std::vector<ByteRange> touched;
  for (const TouchedSector& sector : result.sectors) {
    const std::uint64_t address = kDeviceBase + sector.sector * kSectorBytes;
    const bool is_known = !touched.empty() && result.sampled_blocks != 0 &&
                          address < touched.back().address + touched.back().bytes;
    if (is_known) continue;
    const Allocation* allocation = result.sampled_blocks == 0 ? nullptr : memory.find(address);
    if (allocation == nullptr) {
      append(touched, address, kSectorBytes);
    } else {
      append(touched, allocation->base, allocation->bytes);
    }
  }
  return touched;
}

bool comes_from_host(const DeviceMemory& memory, const std::vector<ByteRange>& written_by_host,
                     std::uint64_t address, std::uint64_t bytes) {
  const Allocation* allocation = memory.find(address);
  if (allocation == nullptr || allocation->sharing == Sharing::none) return false;
  return allocation->sharing == Sharing::pinned || overlaps(written_by_host, address, bytes);
}

bool is_shared_with_host(const DeviceMemory& memory, std::uint64_t address) {
  const Allocation* allocation = memory.find(address);
  return allocation != nullptr && allocation->sharing != Sharing::none;
}

std::vector<ByteRange> ranges_shared_with_host(const std::vector<TouchedSector>& sectors,
                                               std::uint32_t TouchedSector::*bytes,
                                               const DeviceMemory& memory) {
  constexpr std::size_t kMostRanges = 4096;
  SharedSectors shared(memory);
  std::vector<ByteRange> ranges;
  for (const TouchedSector& sector : sectors) {
    const std::uint64_t begin = kDeviceBase + sector.sector * kSectorBytes;
    if (sector.*bytes == 0 || shared.of(begin) == Sharing::none) continue;
    for (std::uint64_t left = sector.*bytes; left != 0;) {
      const auto first = static_cast<unsigned>(std::countr_zero(left));
      const auto count = static_cast<unsigned>(std::countr_one(left >> first));
      append(ranges, begin + first, count);
      left = left >> (first + count) << (first + count);
    }
    if (ranges.size() > kMostRanges) return {};
  }
  return ranges;
}

MemoryOperation copy_kind(bool to_host, bool from_host) {
  if (to_host == from_host) return MemoryOperation::copy_on_device;
  return to_host ? MemoryOperation::copy_to_host : MemoryOperation::copy_to_device;
}

HostTraffic host_traffic(const LaunchResult& result, std::uint64_t blocks,
                         const DeviceMemory& memory,
                         const std::vector<ByteRange>& written_by_host) {
  SharedSectors shared(memory);
  HostTraffic traffic;
  for (const TouchedSector& touched : result.sectors) {
    const std::uint64_t address = kDeviceBase + touched.sector * kSectorBytes;
    const Sharing sharing = shared.of(address);
    if (sharing == Sharing::none) continue;
    const bool pinned = sharing == Sharing::pinned;
    const bool of_host = pinned || overlaps(written_by_host, address, kSectorBytes);
    if (touched.read != 0 && of_host) traffic.read_bytes += kSectorBytes;
    (pinned ? traffic.pinned_bytes : traffic.managed_bytes) += std::popcount(touched.changed);
  }
  if (result.sampled_blocks != 0) {
    const double times = static_cast<double>(blocks) / static_cast<double>(result.sampled_blocks);
    traffic.read_bytes *= times;
    traffic.pinned_bytes *= times;
    traffic.managed_bytes *= times;
  }
  return traffic;
}

void add_operand(const OperandInMemory& operand, const DeviceMemory& memory,
                 const std::vector<ByteRange>& written_by_host, HostTraffic& traffic) {
  const Allocation* allocation = memory.find(operand.address);
  if (allocation == nullptr || allocation->sharing == Sharing::none) return;
  const bool pinned = allocation->sharing == Sharing::pinned;
  const bool of_host =
      pinned || overlaps(written_by_host, operand.address, operand.end - operand.address);
  if (operand.read && of_host) traffic.read_bytes += operand.bytes;
  if (operand.written) (pinned ? traffic.pinned_bytes : traffic.managed_bytes) += operand.bytes;
}

void add_host_traffic(const HostTraffic& traffic, const gpu_spec::GpuSpec& gpu,
                      TimeBreakdown& time) {
  if (!(gpu.pcie_bytes_per_second > 0)) return;
  const auto add = [&](Limiter term, double bytes, bool is_paid) {
    if (!(bytes > 0)) return;
    const double us = bytes / gpu.pcie_bytes_per_second * 1e6;
    time.terms[term] = us;
    if (!is_paid || us + time.launch_us <= time.total_us) return;
    time.total_us = us + time.launch_us;
    time.limiter = term;
  };
  add(Limiter::host_loads, traffic.read_bytes, true);
  add(Limiter::host_stores, traffic.pinned_bytes, true);
  add(Limiter::managed_stores, traffic.managed_bytes, false);
}

}  // namespace simgpu
