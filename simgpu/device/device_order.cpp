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

void Device::host_waited_for_stream(std::uint64_t stream) {
  report_changed_sources();
  timeline_.host_waited_for_stream(stream);
  forget_done();
}

void Device::host_waited_for_event(std::uint64_t event) {
  report_changed_sources();
  timeline_.host_waited_for_event(event);
  forget_done();
}

void Device::host_waited_for_all() {
  report_changed_sources();
  timeline_.host_waited_for_all();
  forget_done();
}

void Device::forget_done() {
  stream_races_.drop_done(timeline_.order());
  host_sources_.drop_done(timeline_.order());
}

void Device::host_function_runs(std::uint64_t stream) {
  report_changed_sources();
  host_sources_.drop_before(stream, node_, timeline_.order());
}

}  // namespace simgpu
