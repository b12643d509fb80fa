#include "simgpu/device/constant_places.h"

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

}  // namespace simgpu
