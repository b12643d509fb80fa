#include "simgpu/device/stream_order.h"

#include <algorithm>

namespace simgpu {

bool StreamOrder::knows(const Clock& clock, const Stamp& stamp) {
  const auto found = clock.find(stamp.stream);
  return found != clock.end() && found->second >= stamp.number;
}

void StreamOrder::join(Clock& clock, const Clock& other) {
  for (const auto& [stream, number] : other) {
    std::uint64_t& known = clock[stream];
    known = std::max(known, number);
  }
}

/// What a stream knows at a point behind all that is on `others` and all that the host waited for.
StreamOrder::Clock& StreamOrder::behind(std::uint64_t stream,
                                        std::span<const std::uint64_t> others) {
  Clock& clock = streams_[stream];
  join(clock, host_);
  for (const std::uint64_t other : others) {
    if (const auto found = streams_.find(other); found != streams_.end()) {
      join(clock, found->second);
    }
  }
  return clock;
}

StreamOrder::Stamp StreamOrder::issue(std::uint64_t stream, std::span<const std::uint64_t> others) {
  Clock& clock = behind(stream, others);
  const Stamp stamp{stream, ++issued_[stream]};
  clock[stream] = stamp.number;
  return stamp;
}

bool StreamOrder::is_before(const Stamp& earlier, std::uint64_t stream) const {
  const auto found = streams_.find(stream);
  return knows(host_, earlier) || (found != streams_.end() && knows(found->second, earlier));
}

void StreamOrder::record(std::uint64_t event, std::uint64_t stream,
                         std::span<const std::uint64_t> others) {
  events_[event] = behind(stream, others);
}

void StreamOrder::wait(std::uint64_t stream, std::uint64_t event) {
  if (const auto found = events_.find(event); found != events_.end()) {
    join(streams_[stream], found->second);
  }
}

void StreamOrder::host_waits_for_stream(std::uint64_t stream,
                                        std::span<const std::uint64_t> others) {
  join(host_, behind(stream, others));
}

void StreamOrder::host_waits_for_event(std::uint64_t event) {
  if (const auto found = events_.find(event); found != events_.end()) join(host_, found->second);
}

void StreamOrder::host_waits_for_all() { join(host_, issued_); }

void StreamOrder::forget_stream(std::uint64_t stream, bool is_done) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  if (is_done) join(host_, found->second);
  streams_.erase(found);
}

}  // namespace simgpu
