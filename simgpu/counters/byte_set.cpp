#include "simgpu/counters/byte_set.h"

#include <algorithm>
#include <bit>

namespace simgpu {
namespace {

constexpr std::uint32_t kWholeSector = 0xffffffff;

std::uint32_t bits(std::uint64_t first, std::uint64_t end) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << end) - (std::uint64_t{1} << first));
}

}  // namespace

ByteSet::Page* ByteSet::page_of(std::uint64_t sector) {
  const std::uint64_t number = sector / kSectorsPerPage;
  Recent& recent = recent_[number % recent_.size()];
  if (recent.number == number) return recent.page;
  const auto [at, is_new] = pages_.try_emplace(number);
  if (is_new && pages_.size() > kMostMemory / (kSectorsPerPage * kSectorBytes)) {
    pages_.erase(at);
    complete_ = false;
    return nullptr;
  }
  recent = {number, &at->second};
  return recent.page;
}

/// `bytes` of each of `count` sectors of one page.
void ByteSet::add(std::uint64_t sector, std::uint64_t count, std::uint32_t bytes) {
  Page* const page = page_of(sector);
  if (page == nullptr || page->whole) return;
  if (count == kSectorsPerPage && bytes == kWholeSector) {
    *page = {.whole = true, .sectors = nullptr};
    return;
  }
  if (page->sectors == nullptr) page->sectors = std::make_unique<Sectors>();
  const std::uint64_t first = sector % kSectorsPerPage;
  for (std::uint64_t i = 0; i < count; ++i) (*page->sectors)[first + i] |= bytes;
}

void ByteSet::add(const ByteRange& range) {
  if (range.bytes == 0) return;
  const std::uint64_t begin = range.address - kDeviceBase;
  const std::uint64_t end = begin + range.bytes;
  const std::uint64_t first_whole = (begin + kSectorBytes - 1) / kSectorBytes;
  const std::uint64_t end_whole = end / kSectorBytes;
  if (first_whole > end_whole) {  // it begins and ends within one sector
    add(end_whole, 1, bits(begin % kSectorBytes, end % kSectorBytes));
    return;
  }
  if (begin % kSectorBytes != 0) add(first_whole - 1, 1, bits(begin % kSectorBytes, kSectorBytes));
  for (std::uint64_t sector = first_whole; sector < end_whole;) {
    const std::uint64_t in_page = kSectorsPerPage - sector % kSectorsPerPage;
    const std::uint64_t count = std::min(end_whole - sector, in_page);
    add(sector, count, kWholeSector);
    sector += count;
  }
  if (end % kSectorBytes != 0) add(end_whole, 1, bits(0, end % kSectorBytes));
}

void ByteSet::add(const TrafficLog& log, KindFilter wanted) {
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (entry.kind == TrafficEntry::Kind::bytes || !wanted(entry.kind)) continue;
    const std::uint32_t narrow = log.narrowed_bytes(i);
    const std::uint32_t bytes = narrow != 0 ? narrow : bytes_of_words(entry.words);
    for (std::uint64_t k = 0; k < entry.count; ++k) add(entry.sector() + k, 1, bytes);
  }
}

/// Visits sectors in order, with how many there are of the same bytes.
template <typename Visit>
void ByteSet::for_each_stretch(const Visit& visit) const {
  for (const auto& [number, page] : pages_) {
    const std::uint64_t first = number * kSectorsPerPage;
    if (page.whole) visit(first, kSectorsPerPage, kWholeSector);
    if (page.sectors == nullptr) continue;
    for (std::uint64_t i = 0; i < kSectorsPerPage; ++i) {
      if ((*page.sectors)[i] != 0) visit(first + i, 1, (*page.sectors)[i]);
    }
  }
}

std::vector<ByteRange> ByteSet::by_allocation(const DeviceMemory& memory) const {
  std::vector<ByteRange> all;
  std::uint64_t end = 0;  // of the allocation that the last bytes lie in
  for_each_stretch([&](std::uint64_t sector, std::uint64_t count, std::uint32_t bytes) {
    for (const std::uint64_t last = sector + count; sector < last;) {
      const std::uint64_t address = kDeviceBase + sector * kSectorBytes;
      if (address >= end) {
        const Allocation* const allocation = memory.find(address);
        if (allocation == nullptr) {
          ++sector;
          continue;
        }
        end = allocation->base + allocation->bytes;
        all.push_back({allocation->base, 0});
      }
      const std::uint64_t inside =
          std::min(last - sector, (end - address + kSectorBytes - 1) / kSectorBytes);
      all.back().bytes += inside * static_cast<std::uint64_t>(std::popcount(bytes));
      sector += inside;
    }
  });
  return all;
}

std::vector<ByteRange> ByteSet::ranges(std::size_t most) {
  std::vector<ByteRange> all;
  const auto append = [&](std::uint64_t address, std::uint64_t bytes) {
    if (!all.empty() && all.back().address + all.back().bytes == address) {
      all.back().bytes += bytes;
    } else if (all.size() < most) {
      all.push_back({address, bytes});
    } else {
      complete_ = false;
    }
  };
  for_each_stretch([&](std::uint64_t sector, std::uint64_t count, std::uint32_t bytes) {
    const std::uint64_t address = kDeviceBase + sector * kSectorBytes;
    if (bytes == kWholeSector) {
      append(address, count * kSectorBytes);
      return;
    }
    for (std::uint32_t at = 0; at < kSectorBytes && bytes >> at != 0;) {
      at += static_cast<std::uint32_t>(std::countr_zero(bytes >> at));
      const auto length = static_cast<std::uint32_t>(std::countr_one(bytes >> at));
      append(address + at, length);
      at += length;
    }
  });
  return all;
}

}  // namespace simgpu
