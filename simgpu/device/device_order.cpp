#include <memory>
#include <utility>

#include "simgpu/device/device.h"
#include "simgpu/exec/kept_stores.h"

/// The part of Device that places work on the timeline.
namespace simgpu {

UnorderedWork::Places Device::places_of(const std::vector<StreamRaces::Range>& ranges) const {
  if (!wants_places() || ranges.empty()) return nullptr;
  auto places = std::make_shared<TouchedPlaces>();
  for (const StreamRaces::Range& range : ranges) {
    (range.writes ? places->written : places->read)
        .push_back({range.begin, range.end - range.begin});
  }
  merge_ranges(places->read);
  merge_ranges(places->written);
  return places;
}

Picoseconds Device::issue(std::uint64_t stream, Timeline::Engine engine, Picoseconds duration,
                          UnorderedWork::Places places, double share) {
  timeline_.stamp(stream);  // so that the order knows all that is before the work
  timeline_.hold(stream, unordered_work_.earliest(node_, stream, places, timeline_.order()));
  const Picoseconds start = timeline_.issue(stream, engine, duration, share);
  unordered_work_.add({.stamp = timeline_.last_stamp(),
                       .node = node_,
                       .end = start + duration,
                       .places = std::move(places)},
                      timeline_.now());
  return start;
}

}  // namespace simgpu
