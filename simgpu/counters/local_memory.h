#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simgpu/checkers/access.h"

namespace simgpu {

/// What a block's requests of local memory touch. The hardware interleaves it: a word of 32 lanes
/// is a line of 128 bytes, so that lanes at one offset share a line and four sectors, and lanes at
/// different offsets touch a line each.
class LocalMemoryUse {
 public:
  LocalMemoryUse(std::uint32_t warps, std::uint32_t bytes_per_thread);

  void begin_block();

  struct Request {
    std::uint32_t sectors = 0;
    std::uint32_t lines = 0;
    std::uint32_t new_sectors = 0;  ///< that the warp had not touched in this block
    bool operator==(const Request&) const = default;
  };
  /// One request of a warp; offsets lie within the thread's local memory.
  Request access(std::uint32_t warp, std::uint32_t mask,
                 const std::array<std::uint64_t, kWarpSize>& offsets, std::uint32_t bytes);

 private:
  void touch(std::uint32_t warp, std::uint32_t word, std::uint32_t sectors, Request& request);

  std::uint32_t words_;                ///< of a thread
  std::vector<std::uint8_t> touched_;  ///< by warp and word: a bit for each of its sectors
  /// By word: the last request that touched it, and the sectors that this did.
  struct Latest {
    std::uint32_t request = 0;
    std::uint8_t sectors = 0;
  };
  std::vector<Latest> latest_;
  std::uint32_t requests_ = 0;
  bool used_ = false;
};

}  // namespace simgpu
