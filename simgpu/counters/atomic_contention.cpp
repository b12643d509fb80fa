#include "simgpu/counters/atomic_contention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "simgpu/counters/traffic_log.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {
namespace {

/// Memory is dealt out to the slices of L2 in pieces. Two neighbours of these are taken to lie in
/// one slice, wherever they begin, which is an estimate: sums into rows of 512 bytes and of 1 KiB
/// took as long for each byte, those of 2 KiB 0.6 times as long (B200, github.com/pytorch/pytorch,
/// pull request 183950).
constexpr std::uint64_t kSlicePiece = 512;
/// Of a lane's floating-point addition where lanes of its warp meet, in those of a request: as on
/// an RTX A6000.
constexpr std::uint64_t kCyclesOfAFloat = 3;
/// Bytes per cycle of one slice of L2: NVIDIA's whitepaper on the A100 has 5120 for 80 of them.
constexpr double kSliceBytesPerCycle = 64;
/// Of a launch that touches more than these, what comes later is not followed: it is no hot spot.
constexpr std::size_t kMostAddresses = std::size_t{1} << 20;
constexpr std::size_t kMostSlices = std::size_t{1} << 20;

/// The lanes of a warp that meet on one address.
struct Meeting {
  std::uint64_t address = 0;
  std::uint32_t lanes = 0;
};

struct Meetings {
  std::array<Meeting, kWarpSize> all;
  std::size_t count = 0;

  void add(std::uint64_t address, std::uint32_t lanes) {
    for (std::size_t i = count; i-- > 0;) {
      if (all[i].address == address) {
        all[i].lanes += lanes;
        return;
      }
    }
    all[count++] = {address, lanes};
  }
};

/// What a warp asks of one sector, and how many requests' time that takes: lanes that are served
/// one after the other keep their slice busy.
struct SectorRequest {
  std::uint64_t sector = 0;
  std::uint64_t cycles = 1;
};

Meetings meetings_of(const WarpAccess& access) {
  Meetings meetings;
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    meetings.add((*access.address)[lane] - kDeviceBase, 1);
  }
  return meetings;
}

/// The entry for a key; nullptr when there is none and no room for more.
template <typename Map>
auto* entry_of(Map& map, std::uint64_t key, std::size_t most) {
  const auto found = map.find(key);
  if (found != map.end()) return &found->second;
  return map.size() < most ? &map[key] : nullptr;
}

double cycles_of(const AtomicUse& use, const gpu_spec::GpuSpec& gpu) {
  const double combined =
      gpu.address_atomic_cycles > 0 ? gpu.address_atomic_cycles : gpu.atomic_cycles;
  return combined * static_cast<double>(use.combined) +
         gpu.float_atomic_cycles * static_cast<double>(use.one_by_one);
}

}  // namespace

void AtomicUses::add(const WarpAccess& access) {
  const bool one_by_one = (access.order & kLanesOneByOne) != 0;
  const Meetings meetings = meetings_of(access);
  std::array<SectorRequest, kWarpSize> sectors;
  std::size_t count = 0;
  for (std::size_t i = 0; i < meetings.count; ++i) {
    const Meeting& meeting = meetings.all[i];
    if (AtomicUse* const use = entry_of(addresses_, meeting.address, kMostAddresses)) {
      use->lanes += meeting.lanes;
      (one_by_one ? use->one_by_one : use->combined) += one_by_one ? meeting.lanes : 1;
    }
    const std::uint64_t sector = meeting.address / kSectorBytes;
    const auto end = sectors.begin() + count;
    auto found = std::find_if(sectors.begin(), end,
                              [&](const SectorRequest& one) { return one.sector == sector; });
    if (found == end) sectors[count++] = {sector, 1};
    const bool waits = one_by_one && meeting.lanes > 1;
    found->cycles = std::max(found->cycles, waits ? kCyclesOfAFloat * meeting.lanes : 1);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t slice = sectors[i].sector * kSectorBytes / kSlicePiece;
    if (auto* requests = entry_of(slices_, slice, kMostSlices)) *requests += sectors[i].cycles;
  }
}

BlockAtomics AtomicUses::take() {
  BlockAtomics block;
  for (auto& [address, use] : addresses_) {
    use.address = address;
    block.addresses.push_back(use);
  }
  for (const auto& [slice, requests] : slices_) block.slices.push_back({slice, requests});
  std::ranges::sort(block.addresses, {}, &AtomicUse::address);
  std::ranges::sort(block.slices, {}, &SliceUse::slice);
  addresses_.clear();
  slices_.clear();
  return block;
}

void AtomicContention::add(const BlockAtomics& block) {
  for (const AtomicUse& use : block.addresses) {
    AtomicUse* const sum = entry_of(addresses_, use.address, kMostAddresses);
    if (sum == nullptr) continue;
    sum->combined += use.combined;
    sum->one_by_one += use.one_by_one;
    sum->lanes += use.lanes;
  }
  for (const SliceUse& use : block.slices) {
    if (auto* requests = entry_of(slices_, use.slice, kMostSlices)) *requests += use.requests;
  }
}

void AtomicContention::finish(const gpu_spec::GpuSpec& gpu, KernelCounters& counters) const {
  double cycles = 0;
  std::uint64_t lanes = 0;
  for (const auto& [address, use] : addresses_) {
    cycles = std::max(cycles, cycles_of(use, gpu));
    lanes = std::max(lanes, use.lanes);
  }
  double all = 0;
  for (const auto& [slice, requests] : slices_) {
    const auto next = slices_.find(slice + 1);
    const double beside = next == slices_.end() ? 0 : static_cast<double>(next->second);
    cycles = std::max(cycles, gpu.atomic_cycles * (static_cast<double>(requests) + beside));
    all += gpu.atomic_cycles * static_cast<double>(requests);
  }
  const double slices = gpu.l2_bytes_per_second / (kSliceBytesPerCycle * gpu.clock_mhz * 1e6);
  if (gpu.atomic_sectors_per_cycle > 0) {
    cycles = std::max(cycles, all / (gpu.atomic_cycles * gpu.atomic_sectors_per_cycle));
  } else if (slices >= 1) {
    cycles = std::max(cycles, all / slices);
  }
  counters.atomics_on_one_address = lanes;
  counters.atomic_addresses = addresses_.size();
  counters.atomic_serial_cycles = static_cast<std::uint64_t>(std::llround(cycles));
}

}  // namespace simgpu
