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
  std::unique_ptr<Page>& page = pages_[number];
  if (page == nullptr) {
    if (pages_.size() > kMostMemory / (kSectorsPerPage * kSectorBytes)) {
      pages_.erase(number);
      complete_ = false;
      return nullptr;
    }
    page = std::make_unique<Page>();
  }
  recent = {number, page.get()};
  return recent.page;
}

void ByteSet::add(std::uint64_t sector, std::uint32_t bytes) {
  if (Page* const page = page_of(sector)) (*page)[sector % kSectorsPerPage] |= bytes;
}

void ByteSet::add(const ByteRange& range) {
  if (range.bytes == 0) return;
  const std::uint64_t begin = range.address - kDeviceBase;
  const std::uint64_t end = begin + range.bytes;
  std::uint64_t sector = begin / kSectorBytes;
  const std::uint64_t last = (end - 1) / kSectorBytes;
  if (begin % kSectorBytes != 0 || sector == last) {
    const std::uint64_t to = std::min(end - sector * kSectorBytes, kSectorBytes);
    add(sector++, bits(begin % kSectorBytes, to));
  }
  while (sector < last) {
    const std::uint64_t at = sector % kSectorsPerPage;
    const std::uint64_t count = std::min(last - sector, kSectorsPerPage - at);
    if (Page* const page = page_of(sector)) {
      std::fill_n(page->begin() + static_cast<std::ptrdiff_t>(at), count, kWholeSector);
    }
    sector += count;
  }
  if (sector == last) add(sector, bits(0, end - sector * kSectorBytes));
}

void ByteSet::add(const TrafficLog& log, KindFilter wanted) {
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (entry.kind == TrafficEntry::Kind::bytes || !wanted(entry.kind)) continue;
    const std::uint32_t narrow = log.narrowed_bytes(i);
    const std::uint32_t bytes = narrow != 0 ? narrow : bytes_of_words(entry.words);
    for (std::uint64_t k = 0; k < entry.count; ++k) add(entry.sector() + k, bytes);
  }
}

template <typename Visit>
void ByteSet::for_each_sector(const Visit& visit) const {
  for (const auto& [number, page] : pages_) {
    for (std::uint64_t i = 0; i < kSectorsPerPage; ++i) {
      if ((*page)[i] != 0) visit(number * kSectorsPerPage + i, (*page)[i]);
    }
  }
}

std::vector<ByteRange> ByteSet::by_allocation(const DeviceMemory& memory) const {
  std::vector<ByteRange> all;
  std::uint64_t end = 0;  // of the allocation that the last bytes lie in
  for_each_sector([&](std::uint64_t sector, std::uint32_t bytes) {
    const std::uint64_t address = kDeviceBase + sector * kSectorBytes;
    if (address >= end) {
      const Allocation* const allocation = memory.find(address);
      if (allocation == nullptr) return;
      end = allocation->base + allocation->bytes;
      all.push_back({allocation->base, 0});
    }
    all.back().bytes += static_cast<std::uint64_t>(std::popcount(bytes));
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
  for_each_sector([&](std::uint64_t sector, std::uint32_t bytes) {
    const std::uint64_t address = kDeviceBase + sector * kSectorBytes;
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
