#include "simgpu/device/launch_places.h"

#include <memory>

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

std::vector<TouchedSector> outside_of(std::vector<TouchedSector> sectors, const ByteRange& own) {
  std::erase_if(sectors, [&](const TouchedSector& sector) {
    const std::uint64_t begin = kDeviceBase + sector.sector * kSectorBytes;
    return begin >= own.address && begin - own.address < own.bytes;
  });
  return sectors;
}

}  // namespace simgpu
