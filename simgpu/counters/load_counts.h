#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simgpu {

/// How often an instruction waited for asynchronous copies, and what it left under way.
template <class Count>
struct CopyWaits {
  Count waits = 0;
  Count groups_left = 0;  ///< groups of copies that were issued later than what it waited for

  template <class Other>
  void add_times(const CopyWaits<Other>& other, std::uint64_t times) {
    waits += times * other.waits;
    groups_left += times * other.groups_left;
  }
  bool operator==(const CopyWaits&) const = default;
};

/// How far an instruction's loads from global memory went. Whole requests are counted, because a
/// warp waits for the slowest of the sectors that it asks for.
struct LoadCounts {
  std::uint64_t requests = 0;
  std::uint64_t beyond_l1 = 0;  ///< requests with a sector that was not in L1
  /// Requests for a line that the same warp had had fetched so shortly before that it may be under
  /// way still: though L1 or L2 has room for it, it is not there earlier.
  std::uint64_t of_recent = 0;
  std::uint64_t at_l2 = 0;      ///< of those beyond L1, the ones that the model of L2 has seen
  std::uint64_t from_dram = 0;  ///< of these, requests with a sector that was not in L2
  /// At mbarriers, by warps whose own copies arrive there: which these are is only known when it
  /// happens.
  CopyWaits<std::uint64_t> at_mbarriers = {};

  void add_times(const LoadCounts& other, std::uint64_t times) {
    requests += times * other.requests;
    beyond_l1 += times * other.beyond_l1;
    of_recent += times * other.of_recent;
    at_l2 += times * other.at_l2;
    from_dram += times * other.from_dram;
    at_mbarriers.add_times(other.at_mbarriers, times);
  }
  bool operator==(const LoadCounts&) const = default;
};

/// By instruction (pc). As long as it has to be: instructions beyond its end have loaded nothing.
using LoadCountsByPc = std::vector<LoadCounts>;

inline constexpr std::size_t kMostWarpsOfBlock = 32;

/// How far one warp's loads of an instruction went, in one block.
struct LoadsOfWarp {
  std::uint32_t requests = 0, beyond_l1 = 0, of_recent = 0;
  CopyWaits<std::uint32_t> at_mbarriers = {};
};
/// Those of all warps of a block.
struct LoadsOfWarps {
  std::uint32_t pc = 0;
  std::array<LoadsOfWarp, kMostWarpsOfBlock> by_warp{};
};

/// That of an instruction, to be added to.
inline LoadCounts& counts_of(LoadCountsByPc& loads, std::size_t pc) {
  if (pc >= loads.size()) loads.resize(pc + 1);
  return loads[pc];
}

/// sum += times * loads
inline void add_loads(LoadCountsByPc& sum, const LoadCountsByPc& loads, std::uint64_t times = 1) {
  if (sum.size() < loads.size()) sum.resize(loads.size());
  for (std::size_t pc = 0; pc < loads.size(); ++pc) sum[pc].add_times(loads[pc], times);
}

}  // namespace simgpu
