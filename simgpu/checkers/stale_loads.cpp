#include "simgpu/checkers/stale_loads.h"

#include <algorithm>
#include <bit>

namespace simgpu {
namespace {

/// Bytes of a sector that an access of a lane touches, which is aligned and no wider than one.
std::uint32_t bytes_of(const WarpAccess& access, std::uint64_t offset) {
  return ((1U << access.bytes) - 1) << offset;
}

}  // namespace

void StaleLoads::begin_block(std::uint64_t block) {
  block_ = block;
  sectors_.clear();
  lowest_ = ~std::uint64_t{0};
  highest_ = 0;
}

void StaleLoads::store(const WarpAccess& access) {
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint8_t>(std::countr_zero(lanes));
    const std::uint64_t address = (*access.address)[lane], sector = address / kSectorBytes;
    if (sectors_.size() == kMostSectors && !sectors_.contains(sector)) continue;
    lowest_ = std::min(lowest_, sector);
    highest_ = std::max(highest_, sector);
    Stored& stored = sectors_[sector];
    const std::uint64_t offset = address % kSectorBytes;
    stored.bytes |= bytes_of(access, offset);
    for (std::uint64_t byte = offset; byte < offset + access.bytes; byte += kWordBytes) {
      stored.last[byte / kWordBytes] = {access.pc, access.warp, lane, access.kind};
    }
  }
}

void StaleLoads::load(const WarpAccess& access, FindingList& findings) const {
  for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint8_t>(std::countr_zero(lanes));
    const std::uint64_t address = (*access.address)[lane], sector = address / kSectorBytes;
    if (sector < lowest_ || sector > highest_) continue;
    const auto found = sectors_.find(sector);
    if (found == sectors_.end()) continue;
    const std::uint32_t shared = found->second.bytes & bytes_of(access, address % kSectorBytes);
    if (shared == 0) continue;
    const auto byte = static_cast<std::uint64_t>(std::countr_zero(shared));
    const Site& stored = found->second.last[byte / kWordBytes];
    RawFinding finding = finding_at("RL0318", access, block_, lane, sector * kSectorBytes + byte);
    set_other(finding, block_, stored);
    findings.add(finding);
  }
}

}  // namespace simgpu
