#include "simgpu/device/launch_places.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "simgpu/exec/kept_stores.h"

namespace simgpu {

std::vector<StreamRaces::Range> constants_of(const KernelInfo& kernel) {
  std::vector<StreamRaces::Range> ranges;
  for (const ByteRange& constant : kernel.constants) {
    ranges.push_back({.begin = constant.address, .end = constant.address + constant.bytes});
  }
  return ranges;
}

UnorderedWork::Places with_constants(const UnorderedWork::Places& places,
                                     const KernelInfo& kernel) {
  if (places == nullptr || kernel.constants.empty()) return places;
  auto all = std::make_shared<TouchedPlaces>(*places);
  all->read.insert(all->read.end(), kernel.constants.begin(), kernel.constants.end());
  merge_ranges(all->read);
  return all;
}

std::vector<bool> drawing_atomics(const KernelInfo& kernel) {
  std::unordered_set<std::uint32_t> read;
  for (const InstructionInfo& info : kernel.instructions) {
    read.insert(info.reads.begin(), info.reads.end());
  }
  std::vector<bool> draws;
  for (const InstructionInfo& info : kernel.instructions) {
    const bool may_be_atomic = is_atomic(info.cls) || info.cls == InstructionClass::generic_access;
    draws.push_back(may_be_atomic && std::ranges::any_of(info.writes, [&](std::uint32_t slot) {
                      return read.contains(slot);
                    }));
  }
  return std::ranges::find(draws, true) == draws.end() ? std::vector<bool>() : draws;
}

std::vector<TouchedSector> outside_of(std::vector<TouchedSector> sectors, const ByteRange& own) {
  std::erase_if(sectors, [&](const TouchedSector& sector) {
    const std::uint64_t begin = kDeviceBase + sector.sector * kSectorBytes;
    return begin >= own.address && begin - own.address < own.bytes;
  });
  return sectors;
}

}  // namespace simgpu
