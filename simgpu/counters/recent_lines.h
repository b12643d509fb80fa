#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simgpu {

/// The lines that each warp of a block has had fetched so shortly before that they may be under way
/// still. A line that two of them share a place with is forgotten, and passes for one that is
/// there.
class RecentLines {
 public:
  /// @param l1_lines of the block's share of L1: many blocks that are there at once have small ones
  explicit RecentLines(std::uint64_t l1_lines)
      : bits_(std::clamp(static_cast<int>(std::bit_width(l1_lines)) + 1, 8, 12)),
        places_(std::size_t{1} << bits_) {}

  /// No memory answers later, in cycles; a warp's issue slots take at least as many.
  static constexpr std::uint64_t kLongestWait = 1024;

  /// A warp's request, which may ask for several lines.
  /// @param slots issue slots of the warp in this block so far
  struct Request {
    std::uint16_t warp = 0;
    std::uint64_t slots = 0;
    std::uint64_t number = 0;  ///< no other request of the launch has it
  };

  void begin_block() { ++block_; }

  void fetch(std::uint64_t line, const Request& request) {
    places_[place_of(line)] = {line, request.slots, request.number, block_, request.warp};
  }

  /// Whether an earlier request of the same warp has had the line fetched.
  bool has(std::uint64_t line, const Request& request) const {
    const Place& place = places_[place_of(line)];
    return place.line == line && place.block == block_ && place.warp == request.warp &&
           place.request != request.number && request.slots - place.slots < kLongestWait;
  }

 private:
  struct Place {
    std::uint64_t line = 0;
    std::uint64_t slots = 0;
    std::uint64_t request = 0;
    std::uint32_t block = 0;
    std::uint16_t warp = 0;
  };
  /// By the golden ratio, so that rows of a power of two in length lie apart.
  std::uint64_t place_of(std::uint64_t line) const {
    return line * 0x9E37'79B9'7F4A'7C15 >> (64 - bits_);
  }

  int bits_;
  std::vector<Place> places_;
  std::uint32_t block_ = 0;
};

}  // namespace simgpu
