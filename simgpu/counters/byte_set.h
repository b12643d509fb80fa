#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simgpu/counters/traffic_log.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/settled_bytes.h"

namespace simgpu {

/// Of which entries of a log the bytes are wanted.
using KindFilter = bool (*)(TrafficEntry::Kind);
constexpr bool is_plain_store(TrafficEntry::Kind kind) { return kind == TrafficEntry::Kind::store; }

/// The bytes of device memory that blocks touch, each counted once however often it is touched. It
/// takes an eighth of the memory that it has bytes of, and little where that is touched as a whole.
class ByteSet {
 public:
  /// Of so much memory more is not taken in, and the set is not complete.
  static constexpr std::uint64_t kMostMemory = std::uint64_t{4} << 30;

  void add(const ByteRange& range);
  /// What these entries of a log touch.
  void add(const TrafficLog& log, KindFilter wanted);
  bool is_complete() const { return complete_; }
  void give_up() { complete_ = false; }

  /// How many bytes of each allocation there are; `address` is the allocation's. In order.
  std::vector<ByteRange> by_allocation(const DeviceMemory& memory) const;
  /// In order and apart from each other. It is not complete when there are more than `most`.
  std::vector<ByteRange> ranges(std::size_t most);

 private:
  static constexpr std::uint64_t kSectorsPerPage = 2048;
  using Sectors = std::array<std::uint32_t, kSectorsPerPage>;  ///< a bit for each byte
  struct Page {
    bool whole = false;                ///< all its bytes are in the set
    std::unique_ptr<Sectors> sectors;  ///< none where it is whole, or empty
  };

  Page* page_of(std::uint64_t sector);
  void add(std::uint64_t sector, std::uint64_t count, std::uint32_t bytes);
  template <typename Visit>
  void for_each_stretch(const Visit& visit) const;

  std::map<std::uint64_t, Page> pages_;
  /// The pages used lately, by the low bits of their number.
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  std::array<Recent, 64> recent_;
  bool complete_ = true;
};

}  // namespace simgpu
