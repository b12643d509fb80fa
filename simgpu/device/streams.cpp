#include "simgpu/device/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "simgpu/device/host_traffic.h"
#include "simgpu/device/kernel_names.h"
#include "simgpu/exec/kept_stores.h"

namespace simgpu {
namespace {

/// A node of a graph that follows another starts sooner than a kernel that the host launches.
gpu_spec::GpuSpec within_graph(gpu_spec::GpuSpec gpu) {
  gpu.launch_overhead_us = std::min(gpu.launch_overhead_us, GraphCost::kNode);
  return gpu;
}

}  // namespace

Streams::Streams(const gpu_spec::GpuSpec& gpu, const DeviceOptions& options,
                 const DeviceMemory& memory, Timeline& timeline, ActivityLog& log,
                 const LoadedModules& modules, MemoryPools& pools)
    : gpu_(gpu),
      node_gpu_(within_graph(gpu)),
      options_(options),
      memory_(memory),
      timeline_(timeline),
      log_(log),
      modules_(modules),
      pools_(pools) {}

void Streams::begin_node(Picoseconds from, bool follows_work, StreamRaces::Node node) {
  timeline_.begin_node(from);
  node_ = std::move(node);
  follows_work_ = follows_work;
}

Picoseconds Streams::end_node() {
  follows_work_ = false;
  node_ = {};
  return timeline_.end_node();
}

UnorderedWork::Places Streams::places_of(const std::vector<StreamRaces::Range>& ranges) const {
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

Picoseconds Streams::issue(std::uint64_t stream, Timeline::Engine engine, Picoseconds duration,
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

void Streams::note_work(StreamRaces::Work work) {
  work.stamp = timeline_.last_stamp();
  work.node = node_;
  if (!work.of_caller) work.called_from = log_.caller();
  work.stream_number = timeline_.stream_number(work.stamp.stream);
  const auto against = watches_all() ? StreamRaces::Against::all : StreamRaces::Against::callers;
  const std::uint64_t unjudged = stream_races_.unjudged();
  for (Finding& race : stream_races_.add(std::move(work), timeline_.order(), memory_, against)) {
    name_calls(race);
    if (!race.kernel.empty()) race.kernel = modules_.shown_name(race.kernel);
    log_.add(std::move(race));
  }
  log_.count_unjudged(stream_races_.unjudged() - unjudged);
}

void Streams::note_callers_work(const std::vector<ByteRange>& ranges, bool alone) {
  has_callers_work_ = true;
  has_late_inputs_ = has_late_inputs_ || !alone;
  StreamRaces::Work work{.name = "work of the caller", .of_caller = true};
  for (const ByteRange& range : ranges) {
    if (range.bytes == 0) continue;
    work.ranges.push_back(
        {.begin = range.address, .end = range.address + range.bytes, .writes = true});
  }
  timeline_.stamp(timeline_.callers_stream());
  note_work(std::move(work));
}

void Streams::synchronize(Picoseconds until) {
  timeline_.wait_until(until);
  pools_.synchronized();
}

void Streams::host_waited_for_stream(std::uint64_t stream) {
  report_changed_sources();
  timeline_.host_waited_for_stream(stream);
  forget_done();
}

void Streams::host_waited_for_event(std::uint64_t event) {
  report_changed_sources();
  timeline_.host_waited_for_event(event);
  forget_done();
}

void Streams::host_waited_for_all() {
  report_changed_sources();
  timeline_.host_waited_for_all();
  forget_done();
}

void Streams::forget_done() {
  stream_races_.drop_done(timeline_.order());
  host_sources_.drop_done(timeline_.order());
  host_results_.drop_done(timeline_.order());
}

void Streams::host_function_runs(std::uint64_t stream) {
  report_changed_sources();
  host_sources_.drop_before(stream, node_, timeline_.order());
}

void Streams::note_host_side(const HostSources::Rows& rows, bool is_read_later, bool is_written) {
  if (!options_.checkers) return;
  report(host_sources_.take_changed(memory_, rows));
  if (is_written) host_sources_.drop_written(rows);
  if (is_read_later) keep_source(rows, "a copy to the device");
}

void Streams::note_host_memory(const std::string& kernel, bool signals,
                               const std::vector<TouchedSector>& sectors) {
  if (!options_.checkers || options_.sampled || !memory_.shares_memory()) return;
  const std::string by = "kernel " + kernel;
  for (const ByteRange& read : ranges_shared_with_host(sectors, &TouchedSector::read, memory_)) {
    keep_source({.address = read.address, .pitch = read.bytes, .width = read.bytes, .height = 1},
                by);
  }
  if (signals) return;
  const StreamOrder::Stamp stamp = timeline_.last_stamp();
  host_results_.add({.stored = ranges_shared_with_host(sectors, &TouchedSector::changed, memory_),
                     .by = by,
                     .stamp = stamp,
                     .stream_number = timeline_.stream_number(stamp.stream),
                     .where = log_.host_site("the launch that may still store to it")});
}

void Streams::report_used_result(std::uint64_t address) {
  const HostResults::Work* const work = host_results_.find(address, timeline_.order());
  if (work == nullptr) return;
  const Allocation* const allocation = memory_.find(address);
  if (allocation == nullptr) return;
  log_.add(Finding{
      .code = "RL0321",
      .where = log_.host_site("the host uses it here"),
      .other = work->where,
      .message = fmt::format("the host uses byte {} of an allocation of {} bytes ({}) while {}, "
                             "which stores to it, may still be under way on {}: nothing has waited "
                             "for that",
                             address - allocation->base, allocation->bytes, allocation->label,
                             work->by, stream_in_words(work->stream_number))});
}

/// @param by the work that was issued last
void Streams::keep_source(const HostSources::Rows& rows, std::string by) {
  const StreamOrder::Stamp stamp = timeline_.last_stamp();
  host_sources_.add({.rows = rows,
                     .by = std::move(by),
                     .stamp = stamp,
                     .stream_number = timeline_.stream_number(stamp.stream),
                     .node = node_,
                     .where = log_.host_site("the copy that may still read it")},
                    memory_);
}

void Streams::report(const std::vector<HostSources::Change>& changes) {
  for (const HostSources::Change& change : changes) {
    log_.add(Finding{
        .code = "RL0320",
        .where = change.where,
        .message = fmt::format(
            "the host writes to memory while {}, which reads it, may still be under way "
            "on {}: nothing has waited for that, and byte {} of {} is not what it "
            "was at the call",
            change.by, stream_in_words(change.stream_number), change.first, change.rows.bytes())});
  }
}

void Streams::forget_all() {
  stream_races_.forget_all();
  unordered_work_.forget_all();
  host_sources_.forget_all();
  host_results_.forget_all();
  has_callers_work_ = has_late_inputs_ = false;
}

}  // namespace simgpu
