#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/replay/recording.h"

namespace simgpu::replay {

/// Bytes of shared memory that have been stored, each with who stored it last.
class SharedImage {
 public:
  SharedImage() = default;
  explicit SharedImage(std::size_t bytes) : bytes_(bytes) {}

  void store(std::uint32_t first, std::span<const std::uint8_t> bytes, std::uint32_t warp,
             std::uint32_t place);
  void store(const SharedBytes& stored) {
    store(stored.first, stored.bytes, stored.warp, stored.place);
  }
  void store(const std::vector<SharedBytes>& all) {
    for (const SharedBytes& stored : all) store(stored);
  }
  bool empty() const { return stored_.empty(); }

  /// All stored bytes, in order; neighbours of one warp and place together.
  std::vector<SharedBytes> runs() const;
  /// The same, and nothing is stored any more.
  std::vector<SharedBytes> take_runs();

 private:
  struct Byte {
    std::uint8_t value = 0;
    bool is_stored = false;
    std::uint32_t warp = kNone, place = kNone;
  };
  std::vector<Byte> bytes_;
  mutable std::vector<std::uint32_t> stored_;  ///< their numbers, each once
};

}  // namespace simgpu::replay
