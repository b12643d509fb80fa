#include "simgpu/counters/local_memory.h"

#include <algorithm>
#include <bit>

#include "simgpu/counters/traffic_log.h"

namespace simgpu {
namespace {

constexpr std::uint32_t kLanesPerSector = kSectorBytes / kWordBytes;

std::uint32_t sector_of_lane(std::uint32_t lane) { return 1U << lane / kLanesPerSector; }

std::uint32_t sectors_of_lanes(std::uint32_t lanes) {
  std::uint32_t sectors = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; lane += kLanesPerSector) {
    if ((lanes >> lane & 0xffU) != 0) sectors |= sector_of_lane(lane);
  }
  return sectors;
}

bool have_one_offset(std::uint32_t lanes, const std::array<std::uint64_t, kWarpSize>& offsets) {
  const std::uint64_t first = offsets[std::countr_zero(lanes)];
  for (; lanes != 0; lanes &= lanes - 1) {
    if (offsets[std::countr_zero(lanes)] != first) return false;
  }
  return true;
}

}  // namespace

LocalMemoryUse::LocalMemoryUse(std::uint32_t warps, std::uint32_t bytes_per_thread)
    : words_((bytes_per_thread + kWordBytes - 1) / kWordBytes),
      touched_(std::size_t{warps} * words_),
      latest_(words_) {}

void LocalMemoryUse::begin_block() {
  if (used_) std::ranges::fill(touched_, std::uint8_t{0});
  used_ = false;
}

void LocalMemoryUse::touch(std::uint32_t warp, std::uint32_t word, std::uint32_t sectors,
                           Request& request) {
  std::uint8_t& before = touched_[std::size_t{warp} * words_ + word];
  request.sectors += static_cast<std::uint32_t>(std::popcount(sectors));
  request.new_sectors +=
      static_cast<std::uint32_t>(std::popcount(sectors & ~std::uint32_t{before}));
  before = static_cast<std::uint8_t>(before | sectors);
}

LocalMemoryUse::Request LocalMemoryUse::access(std::uint32_t warp, std::uint32_t mask,
                                               const std::array<std::uint64_t, kWarpSize>& offsets,
                                               std::uint32_t bytes) {
  Request request;
  if (mask == 0) return request;
  used_ = true;
  const auto first_word = [&](std::uint32_t lane) {
    return static_cast<std::uint32_t>(offsets[lane] / kWordBytes);
  };
  const auto last_word = [&](std::uint32_t lane) {
    return static_cast<std::uint32_t>((offsets[lane] + bytes - 1) / kWordBytes);
  };
  if (have_one_offset(mask, offsets)) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    const std::uint32_t sectors = sectors_of_lanes(mask);
    for (std::uint32_t word = first_word(lane); word <= last_word(lane); ++word) {
      touch(warp, word, sectors, request);
      ++request.lines;
    }
    return request;
  }
  if (++requests_ == 0) {  // all numbers are used up
    std::ranges::fill(latest_, Latest{});
    requests_ = 1;
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    for (std::uint32_t word = first_word(lane); word <= last_word(lane); ++word) {
      Latest& latest = latest_[word];
      if (latest.request != requests_) {
        latest = {requests_, 0};
        ++request.lines;
      }
      const std::uint32_t more = sector_of_lane(lane) & ~std::uint32_t{latest.sectors};
      latest.sectors = static_cast<std::uint8_t>(latest.sectors | more);
      touch(warp, word, more, request);
    }
  }
  return request;
}

}  // namespace simgpu
