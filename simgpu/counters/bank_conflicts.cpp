#include "simgpu/counters/bank_conflicts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "simgpu/checkers/lane_pattern.h"
#include "simgpu/counters/traffic_log.h"

namespace simgpu {
namespace {

constexpr std::uint32_t kBanks = 32;

/// Lanes served together: all of them, or as many as can move 128 bytes.
std::uint32_t lanes_per_phase(std::uint32_t bytes) {
  return bytes <= kWordBytes ? kWarpSize : kBanks * kWordBytes / std::bit_ceil(bytes);
}

/// Whether each lane's address is that of its neighbour, or each one's that of the lane after the
/// next: lane i and lane i ^ distance, of those that take part.
bool comes_in_pairs(const WarpAccess& access, std::uint32_t distance) {
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    const std::uint32_t other = lane ^ distance;
    if ((access.mask >> other & 1U) == 0) continue;
    if ((*access.address)[lane] != (*access.address)[other]) return false;
  }
  return true;
}

/// Wide loads whose lanes come in pairs bring twice as many of them to the registers at once.
bool is_packed(const WarpAccess& access, std::uint32_t bytes) {
  if (bytes <= kWordBytes || access.kind != AccessKind::load) return false;
  return access.shape == Shape::uniform || comes_in_pairs(access, 1) || comes_in_pairs(access, 2);
}

/// Distinct words of the busiest bank among the lanes in `lanes`.
std::uint32_t phase_wavefronts(const WarpAccess& access, std::uint32_t lanes) {
  // The words seen of each bank; a phase touches at most 32 x 2 words (an access of 4 bytes across
  // two, or one of 16 bytes whose lanes come in pairs).
  std::array<std::array<std::uint64_t, 2 * kWarpSize>, kBanks> words;
  std::array<std::uint32_t, kBanks> count{};
  std::uint32_t most = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t first = (*access.address)[std::countr_zero(lanes)];
    const std::uint64_t last = (first + access.bytes - 1) / kWordBytes;
    for (std::uint64_t word = first / kWordBytes; word <= last; ++word) {
      const std::uint32_t bank = word % kBanks;
      const auto begin = words[bank].begin();
      const auto end = begin + count[bank];
      if (std::find(begin, end, word) != end || count[bank] == words[bank].size()) continue;
      words[bank][count[bank]++] = word;
      most = std::max(most, count[bank]);
    }
  }
  return most;
}

}  // namespace

SharedWavefronts shared_wavefronts(const WarpAccess& access) {
  if (access.mask == 0) return {};
  const std::uint32_t bytes = std::max<std::uint32_t>(access.bytes, 1);
  const std::uint32_t width = lanes_per_phase(bytes) * (is_packed(access, bytes) ? 2 : 1);
  if (const auto stride = constant_stride(access)) {
    const std::uint32_t phases = kWarpSize / width;
    const std::uint64_t first = (*access.address)[0];
    const bool aligned = first % bytes == 0;
    if (aligned && (*stride == 0 || *stride == static_cast<std::int64_t>(bytes))) {
      return {phases, phases};
    }
    // Words s apart fall on 32 / gcd(s, 32) banks, so that each of those serves gcd(s, 32) lanes.
    if (aligned && bytes == kWordBytes && *stride % kWordBytes == 0) {
      return {static_cast<std::uint32_t>(std::gcd<std::int64_t>(*stride / kWordBytes, kBanks)), 1};
    }
  }
  SharedWavefronts sum;
  const std::uint32_t phase_mask = width == kWarpSize ? 0xffffffffU : (1U << width) - 1U;
  for (std::uint32_t first = 0; first < kWarpSize; first += width) {
    const std::uint32_t lanes = access.mask & (phase_mask << first);
    if (lanes == 0) continue;
    sum.wavefronts += phase_wavefronts(access, lanes);
    sum.ideal += 1;
  }
  return sum;
}

}  // namespace simgpu
