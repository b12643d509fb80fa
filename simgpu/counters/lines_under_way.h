#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/counters/traffic_log.h"

namespace simgpu {

/// What a load takes of its warp's time, in cycles: about the latencies of L1 and of L2. Not that
/// of any one GPU: the model tells how long a warp's way is, and this only how much longer another
/// one's is, and who comes first.
inline constexpr std::uint64_t kCyclesOfL1 = 33, kCyclesBeyondL1 = 300;

/// Lines that a block has had fetched so shortly before that they may be under way still. They are
/// kept by sets, as in a cache; what has been thrown out of a full set passes for lines that are
/// there.
class LinesUnderWay {
 public:
  /// @param l1_lines of the block's share of L1: many blocks that are there at once have small ones
  explicit LinesUnderWay(std::uint64_t l1_lines)
      : bits_(std::clamp(static_cast<int>(std::bit_width(l1_lines)), 7, 11)),
        arrivals_(std::size_t{1} << bits_),
        asked_(std::size_t{1} << bits_) {}

  /// No memory answers later, in cycles; a warp's issue slots take at least as many.
  static constexpr std::uint64_t kLongestWait = 1024;

  /// A warp's request, which may ask for several lines.
  /// @param slots issue slots of the warp in this block so far
  /// @param time  of the warp, in cycles since its block began
  struct Request {
    std::uint16_t warp = 0;
    std::uint64_t slots = 0;
    std::uint64_t time = 0;
    std::uint64_t number = 0;  ///< no other request of the launch has it
  };

  void begin_block() { ++block_; }

  /// L1 lacks these sectors of a line, one bit for each.
  void fetch(std::uint64_t line, std::uint32_t sectors, const Request& request) {
    Arrivals* place = arrivals_of(line);
    if (place == nullptr) {
      place = &arrivals_[place_of(line)].as_youngest();
      *place = {low(line), block_, 0, {}};
    }
    const std::uint32_t arrival = low(request.time + kCyclesBeyondL1);
    for_each_of(sectors, *place, [&](std::uint32_t& time) { time = arrival; });
    ask(*place, line, request);
  }

  /// Cycles until these sectors, which L1 has, are there. Who had one fetched may have come before
  /// this warp in the order of the simulation alone: then this one is the first.
  std::uint64_t wait_for(std::uint64_t line, std::uint32_t sectors, const Request& request) {
    Arrivals* const place = arrivals_of(line);
    if (place == nullptr) return 0;
    std::int32_t longest = 0;
    for_each_of(sectors, *place, [&](std::uint32_t& time) {
      const auto wait = static_cast<std::int32_t>(time - low(request.time));
      const std::int32_t own = std::min(wait, static_cast<std::int32_t>(kCyclesBeyondL1));
      time = low(request.time) + static_cast<std::uint32_t>(own);
      longest = std::max(longest, own);
    });
    return static_cast<std::uint64_t>(longest);
  }

  /// The warp waits for a line, which has been fetched, from now on.
  void ask(std::uint64_t line, const Request& request) {
    if (Arrivals* const place = arrivals_of(line)) ask(*place, line, request);
  }

  /// Whether an earlier request of the same warp waits, or waited, for the line.
  bool has_asked(std::uint64_t line, const Request& request) {
    // Most lines are other warps': what is known of them lies where wait_for() looks anyway.
    const Arrivals* const place = arrivals_of(line);
    if (place == nullptr || (place->askers & bit_of(request.warp)) == 0) return false;
    return std::ranges::any_of(asked_[asked_place(line, request)].places, [&](const Asked& asked) {
      return is_of(asked, line, request.warp) && asked.request != low(request.number) &&
             low(request.slots - asked.slots) < kLongestWait;
    });
  }

 private:
  // Looked up by each load, in no order that a processor could foresee: a set is a line of its
  // cache. Of numbers the low halves do: device memory has fewer than 2^32 lines, and what is
  // compared of times, slots and requests lies close together.
  struct Arrivals {
    std::uint32_t line = 0;
    std::uint32_t block = 0;
    std::uint32_t askers = 0;  ///< warps of the block that have asked for the line
    std::array<std::uint32_t, kSectorsPerLine> time{};  ///< by sector
  };
  struct Asked {
    std::uint32_t line = 0;
    std::uint32_t slots = 0;
    std::uint32_t request = 0;
    std::uint32_t block_and_warp = 0;
  };
  /// From the oldest on.
  template <class Place, std::size_t kPlaces>
  struct alignas(64) Set {
    std::array<Place, kPlaces> places;

    /// The place of the one at `from`, the oldest unless said, now behind all younger ones.
    Place& as_youngest(std::size_t from = 0) {
      std::rotate(places.begin() + from, places.begin() + from + 1, places.end());
      return places.back();
    }
  };
  using ArrivalSet = Set<Arrivals, 2>;
  using AskedSet = Set<Asked, 4>;

  static std::uint32_t low(std::uint64_t number) { return static_cast<std::uint32_t>(number); }
  std::uint32_t block_and(std::uint16_t warp) const { return block_ * kWarpSize + warp; }
  bool is_of(const Asked& asked, std::uint64_t line, std::uint16_t warp) const {
    return asked.line == low(line) && asked.block_and_warp == block_and(warp);
  }
  Arrivals* arrivals_of(std::uint64_t line) {
    for (Arrivals& place : arrivals_[place_of(line)].places) {
      if (place.line == low(line) && place.block == block_) return &place;
    }
    return nullptr;
  }
  void ask(Arrivals& place, std::uint64_t line, const Request& request) {
    place.askers |= bit_of(request.warp);
    AskedSet& set = asked_[asked_place(line, request)];
    const auto known = std::ranges::find_if(
        set.places, [&](const Asked& asked) { return is_of(asked, line, request.warp); });
    const auto from = known == set.places.end() ? 0 : known - set.places.begin();
    set.as_youngest(static_cast<std::size_t>(from)) = {
        low(line), low(request.slots), low(request.number), block_and(request.warp)};
  }
  template <class Visit>
  static void for_each_of(std::uint32_t sectors, Arrivals& place, const Visit& visit) {
    for (; sectors != 0; sectors &= sectors - 1) {
      visit(place.time[static_cast<std::size_t>(std::countr_zero(sectors))]);
    }
  }
  static std::uint32_t bit_of(std::uint16_t warp) { return std::uint32_t{1} << warp % kWarpSize; }
  /// By the golden ratio, so that rows of a power of two in length lie apart.
  std::uint64_t place_of(std::uint64_t key) const {
    return key * 0x9E37'79B9'7F4A'7C15 >> (64 - bits_);
  }
  std::uint64_t asked_place(std::uint64_t line, const Request& request) const {
    return place_of(line ^ std::uint64_t{request.warp} << 48);
  }

  int bits_;
  std::vector<ArrivalSet> arrivals_;
  std::vector<AskedSet> asked_;  ///< by line and warp
  std::uint32_t block_ = 0;
};

}  // namespace simgpu
