#include "simgpu/counters/stored_values.h"

#include <bit>

namespace simgpu {
namespace {

const std::byte* host_of(const DeviceMemory& memory, std::uint64_t sector) {
  return memory.host(kDeviceBase + sector * kSectorBytes);
}

}  // namespace

StoredValues::Page* StoredValues::page_of(std::uint64_t sector) {
  const std::uint64_t number = sector / kSectorsPerPage;
  const auto found = pages_.find(number);
  if (found != pages_.end()) return found->second.get();
  if (pages_.size() >= kMostPages) return nullptr;
  return pages_.emplace(number, std::make_unique<Page>()).first->second.get();
}

void StoredValues::keep(const TrafficLog& log, const DeviceMemory& memory) {
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (entry.kind != TrafficEntry::Kind::store) continue;
    const bool narrow =
        i + 1 < log.entries.size() && log.entries[i + 1].kind == TrafficEntry::Kind::bytes;
    const std::uint32_t bytes =
        narrow ? log.entries[i + 1].byte_mask() : bytes_of_words(entry.words);
    for (std::uint64_t sector = entry.sector(); sector < entry.sector() + entry.count; ++sector) {
      Page* const page = page_of(sector);
      if (page == nullptr) return;
      const std::uint64_t at = sector % kSectorsPerPage;
      const std::byte* const left = host_of(memory, sector);
      for (std::uint32_t wanted = bytes & ~page->known[at]; wanted != 0; wanted &= wanted - 1) {
        const auto byte = static_cast<std::size_t>(std::countr_zero(wanted));
        page->values[at * kSectorBytes + byte] = left[byte];
      }
      page->known[at] |= bytes;
    }
  }
}

bool StoredValues::hold(const DeviceMemory& memory, std::uint64_t sector,
                        std::uint32_t bytes) const {
  const auto found = pages_.find(sector / kSectorsPerPage);
  if (found == pages_.end()) return false;
  const Page& page = *found->second;
  const std::uint64_t at = sector % kSectorsPerPage;
  if ((bytes & ~page.known[at]) != 0) return false;
  const std::byte* const now = host_of(memory, sector);
  for (; bytes != 0; bytes &= bytes - 1) {
    const auto byte = static_cast<std::size_t>(std::countr_zero(bytes));
    if (page.values[at * kSectorBytes + byte] != now[byte]) return false;
  }
  return true;
}

}  // namespace simgpu
