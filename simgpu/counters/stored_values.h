#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "simgpu/counters/traffic_log.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// What the first block that stored to a byte left there, for blocks that run one after the other.
/// Blocks that leave the same value in one place do not depend on their order.
class StoredValues {
 public:
  /// Takes what a block that has just ended, and ran alone, left where it stored. What an earlier
  /// block left stays. Of very much nothing more is kept.
  void keep(const TrafficLog& log, const DeviceMemory& memory);
  /// Whether bytes of a sector (one bit each) hold what an earlier block left there.
  bool hold(const DeviceMemory& memory, std::uint64_t sector, std::uint32_t bytes) const;

 private:
  static constexpr std::uint64_t kSectorsPerPage = 1024;
  static constexpr std::size_t kMostPages = 1 << 13;  // of 36 KiB
  struct Page {
    std::array<std::uint32_t, kSectorsPerPage> known{};  ///< bytes, one bit each
    std::array<std::byte, kSectorsPerPage * kSectorBytes> values{};
  };
  Page* page_of(std::uint64_t sector);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace simgpu
