#include "simgpu/device/timeline.h"

#include <algorithm>
#include <cmath>

namespace simgpu {
namespace {

// Ten days: beyond any launch, and far from overflow when many are added up.
constexpr Picoseconds kLongest = 864'000'000'000'000'000;

Picoseconds add(Picoseconds a, Picoseconds b) {
  return std::min(a, kLongest) + std::min(b, kLongest);
}

}  // namespace

Picoseconds picoseconds(double microseconds) {
  if (!(microseconds > 0)) return 0;
  const double exact = microseconds * 1e6;
  return exact >= static_cast<double>(kLongest) ? kLongest : std::llround(exact);
}

Timeline::Timeline() { forget_handles(); }

void Timeline::forget_handles() {
  streams_.clear();
  events_.clear();
  destroyed_ready_ = 0;
  callers_stream_ = kLegacyStream;
  order_.forget_all();
  streams_[kLegacyStream] = {};
  streams_[kPerThreadStream] = {};
}

void Timeline::spend(double microseconds) {
  if (!node_end_) now_ = add(now_, picoseconds(microseconds));
}

void Timeline::hold(std::uint64_t stream, Picoseconds time) {
  Picoseconds& ready = node_end_ ? *node_end_ : streams_.at(stream).ready;
  ready = std::max(ready, time);
}

void Timeline::wait_until(Picoseconds time) { now_ = std::max(now_, time); }

std::uint64_t Timeline::create_stream(bool blocking, int priority) {
  const std::uint64_t handle = next_handle_++;
  streams_[handle] = {
      .blocking = blocking, .priority = priority, .ready = 0, .number = ++streams_created_};
  has_created_streams_ = true;
  return handle;
}

std::uint64_t Timeline::create_callers_stream() {
  const std::uint64_t handle = next_handle_++;
  streams_[handle] = {.blocking = false,
                      .priority = 0,
                      .ready = 0,
                      .number = ++streams_created_,
                      .of_caller = true};
  callers_stream_ = handle;
  return handle;
}

CudaError Timeline::destroy_stream(std::uint64_t stream) {
  if (stream == kLegacyStream || stream == kPerThreadStream)
    return CudaError::invalid_resource_handle;
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.of_caller) return CudaError::invalid_resource_handle;
  const bool blocking = found->second.blocking;
  if (blocking) destroyed_ready_ = std::max(destroyed_ready_, found->second.ready);
  streams_.erase(found);
  // The default stream still waits for the work of a blocking one: a race with that is missed
  // rather than invented. Nobody waits for the work of another by itself.
  order_.forget_stream(stream, blocking);
  return CudaError::success;
}

std::optional<int> Timeline::stream_priority(std::uint64_t stream) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return std::nullopt;
  return found->second.priority;
}

std::optional<bool> Timeline::stream_blocking(std::uint64_t stream) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return std::nullopt;
  return found->second.blocking;
}

Picoseconds Timeline::ready(std::uint64_t stream) const {
  Picoseconds time = streams_.at(stream).ready;
  if (stream == kLegacyStream) {
    time = std::max(time, destroyed_ready_);
    for (const auto& [handle, other] : streams_) {
      if (other.blocking) time = std::max(time, other.ready);
    }
  }
  return time;
}

/// Streams whose work comes before what is issued to `stream` now, by the rules of the default
/// stream.
std::vector<std::uint64_t> Timeline::behind(std::uint64_t stream) const {
  if (stream != kLegacyStream) {
    const bool waits = streams_.at(stream).blocking;
    return waits ? std::vector<std::uint64_t>{kLegacyStream} : std::vector<std::uint64_t>{};
  }
  std::vector<std::uint64_t> blocking;
  for (const auto& [handle, other] : streams_) {
    if (other.blocking && handle != kLegacyStream) blocking.push_back(handle);
  }
  return blocking;
}

Picoseconds Timeline::all_done() const { return std::max(now_, last_end_); }

Picoseconds Timeline::earliest(std::uint64_t stream) const {
  Picoseconds time = std::max(now_, ready(stream));
  if (streams_.at(stream).blocking) time = std::max(time, streams_.at(kLegacyStream).ready);
  return time;
}

/// Forgets what ended before the host's clock, and what ends first of too many pieces.
void Timeline::forget(Occupied& engine) const {
  constexpr std::size_t kMostPieces = 128;
  std::vector<Busy>& pieces = engine.pieces;
  Picoseconds until = now_;
  if (pieces.size() >= kMostPieces) {
    const auto middle = pieces.begin() + kMostPieces / 2;
    std::ranges::nth_element(pieces, middle, {}, &Busy::end);
    until = std::max(until, middle->end);
  }
  std::erase_if(pieces, [&](const Busy& work) {
    if (work.end > until) return false;
    engine.not_before = std::max(engine.not_before, work.end);
    return true;
  });
}

Picoseconds Timeline::place(Occupied& engine, Picoseconds from, Picoseconds duration,
                            double share) {
  forget(engine);
  from = std::max(from, engine.not_before);
  // A start is possible where the shares in use leave room until the work's end; they only drop at
  // ends.
  std::vector<Picoseconds> candidates{from};
  for (const Busy& work : engine.pieces) {
    if (work.end > from) candidates.push_back(work.end);
  }
  std::sort(candidates.begin(), candidates.end());
  constexpr double kSlack = 1e-9;
  Picoseconds start = candidates.back();
  for (const Picoseconds candidate : candidates) {
    double used = 0;
    for (const Busy& work : engine.pieces) {
      const bool overlaps = work.start < add(candidate, duration) && work.end > candidate;
      if (overlaps) used += work.share;
    }
    if (used + share <= 1.0 + kSlack) {
      start = candidate;
      break;
    }
  }
  engine.pieces.push_back({.start = start, .end = add(start, duration), .share = share});
  return start;
}

Picoseconds Timeline::issue(std::uint64_t stream, Engine engine, Picoseconds duration,
                            double share) {
  const Picoseconds from = node_end_ ? *node_end_ : earliest(stream);
  const Picoseconds start =
      place(engines_[static_cast<std::size_t>(engine)], from, duration, share);
  const Picoseconds end = add(start, duration);
  (node_end_ ? *node_end_ : streams_.at(stream).ready) = end;
  last_end_ = std::max(last_end_, end);
  last_stamp_ = order_.issue(stream, behind(stream));
  return start;
}

std::uint64_t Timeline::create_event(bool timing) {
  const std::uint64_t handle = next_handle_++;
  events_[handle] = {.timing = timing};
  return handle;
}

CudaError Timeline::destroy_event(std::uint64_t event) {
  order_.forget_event(event);
  return events_.erase(event) == 1 ? CudaError::success : CudaError::invalid_resource_handle;
}

CudaError Timeline::record_event(std::uint64_t event, std::uint64_t stream) {
  const auto found = events_.find(event);
  if (found == events_.end() || !has_stream(stream)) return CudaError::invalid_resource_handle;
  found->second.recorded = true;
  order_.record(event, stream, behind(stream));
  found->second.time = node_end_ ? *node_end_ : earliest(stream);
  if (!node_end_) streams_.at(stream).ready = found->second.time;
  return CudaError::success;
}

std::optional<Picoseconds> Timeline::event_time(std::uint64_t event) const {
  const auto found = events_.find(event);
  if (found == events_.end()) return std::nullopt;
  return found->second.time;
}

CudaError Timeline::stream_wait(std::uint64_t stream, std::uint64_t event) {
  const auto time = event_time(event);
  if (!time || !has_stream(stream)) return CudaError::invalid_resource_handle;
  Picoseconds& ready = node_end_ ? *node_end_ : streams_.at(stream).ready;
  ready = std::max(ready, *time);
  order_.wait(stream, event);
  return CudaError::success;
}

std::size_t Timeline::own_streams() const {
  const auto own = std::ranges::count_if(streams_, [](const auto& entry) {
    return entry.second.number != 0 && !entry.second.of_caller;
  });
  return static_cast<std::size_t>(own);
}

bool Timeline::is_unrecorded(std::uint64_t event) const {
  const auto found = events_.find(event);
  return found != events_.end() && !found->second.recorded;
}

CudaError Timeline::elapsed(std::uint64_t start, std::uint64_t stop, Picoseconds* result) const {
  const auto first = events_.find(start);
  const auto last = events_.find(stop);
  if (first == events_.end() || last == events_.end()) return CudaError::invalid_resource_handle;
  for (const Event& event : {first->second, last->second}) {
    if (!event.timing || !event.recorded) return CudaError::invalid_resource_handle;
  }
  if (first->second.time > now_ || last->second.time > now_) return CudaError::not_ready;
  *result = last->second.time - first->second.time;
  return CudaError::success;
}

}  // namespace simgpu
