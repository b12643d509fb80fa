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

template <typename Use>
std::vector<UseAt<Use>> in_order(const BoundedSums<Use>& sums) {
  std::vector<UseAt<Use>> all;
  all.reserve(sums.kept().size());
  for (const auto& [key, use] : sums.kept()) all.push_back({key, use});
  std::ranges::sort(all, {}, &UseAt<Use>::key);
  return all;
}

/// What was dropped of a block, each key of the launch may have had. Those that the block names get
/// it twice, which can only make a time longer.
template <typename Use>
void add_block(const std::vector<UseAt<Use>>& uses, const Use& of_others, BoundedSums<Use>& sums) {
  if (weight_of(of_others) != 0) sums.add_to_all(of_others);
  for (const UseAt<Use>& use : uses) sums[use.key] += use.use;
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
    AtomicUse& use = addresses_[meeting.address];
    use.lanes += meeting.lanes;
    (one_by_one ? use.one_by_one : use.combined) += one_by_one ? meeting.lanes : 1;
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
    slices_[slice].requests += sectors[i].cycles;
    requests_ += sectors[i].cycles;
  }
}

BlockAtomics AtomicUses::take() {
  BlockAtomics block{.addresses = in_order(addresses_),
                     .slices = in_order(slices_),
                     .of_others = addresses_.floor(),
                     .of_other_slices = slices_.floor(),
                     .requests = requests_};
  *this = AtomicUses();
  return block;
}

AtomicUse& AtomicUse::operator+=(const AtomicUse& other) {
  combined += other.combined;
  one_by_one += other.one_by_one;
  lanes += other.lanes;
  return *this;
}

std::uint64_t weight_of(const AtomicUse& use) { return use.lanes; }

void take_larger(AtomicUse& use, const AtomicUse& other) {
  use.combined = std::max(use.combined, other.combined);
  use.one_by_one = std::max(use.one_by_one, other.one_by_one);
  use.lanes = std::max(use.lanes, other.lanes);
}

SliceUse& SliceUse::operator+=(const SliceUse& other) {
  requests += other.requests;
  return *this;
}

std::uint64_t weight_of(const SliceUse& use) { return use.requests; }

void take_larger(SliceUse& use, const SliceUse& other) {
  use.requests = std::max(use.requests, other.requests);
}

void AtomicContention::add(const BlockAtomics& block) {
  add_block(block.addresses, block.of_others, addresses_);
  add_block(block.slices, block.of_other_slices, slices_);
  requests_ += block.requests;
}

void AtomicContention::finish(const gpu_spec::GpuSpec& gpu, KernelCounters& counters) const {
  double cycles = cycles_of(addresses_.floor(), gpu);
  std::uint64_t lanes = addresses_.floor().lanes;
  for (const auto& [address, use] : addresses_.kept()) {
    cycles = std::max(cycles, cycles_of(use, gpu));
    lanes = std::max(lanes, use.lanes);
  }
  for (const auto& [slice, use] : slices_.kept()) {
    const double beside = static_cast<double>(slices_.at(slice + 1).requests);
    cycles = std::max(cycles, gpu.atomic_cycles * (static_cast<double>(use.requests) + beside));
  }
  const double all = gpu.atomic_cycles * static_cast<double>(requests_);
  const double slices = gpu.l2_bytes_per_second / (kSliceBytesPerCycle * gpu.clock_mhz * 1e6);
  if (gpu.atomic_sectors_per_cycle > 0) {
    cycles = std::max(cycles, all / (gpu.atomic_cycles * gpu.atomic_sectors_per_cycle));
  } else if (slices >= 1) {
    cycles = std::max(cycles, all / slices);
  }
  counters.atomics_on_one_address = lanes;
  counters.atomic_addresses = addresses_.keys();
  counters.atomic_serial_cycles = static_cast<std::uint64_t>(std::llround(cycles));
}

}  // namespace simgpu
