#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "labs/oracle_support/tensors.h"
#include "simgpu/report.h"

/// Profiles as the trusted side makes, writes and reads them. What they come to is computed here by
/// a sweep over the moments at which events begin and end.
namespace rooflab {

struct TraceEvent {
  std::string kind;  ///< "kernel", "copy", "memset", "api", "range"
  double start_us = 0, duration_us = 0;
  std::int64_t stream = 0, correlation = 0;
  std::string name;

  double end_us() const { return start_us + duration_us; }
  bool on_device() const { return kind == "kernel" || kind == "copy" || kind == "memset"; }
};
using Trace = std::vector<TraceEvent>;

/// One line for each event: kind, start, duration, stream, correlation, name.
/// @throws std::invalid_argument naming the line
Trace parse_trace(const std::string& text);
std::string to_text(const Trace& trace);

/// What the device did, in order: no calls, and no correlations.
Trace trace_of(const simgpu::Activity& activity);

/// How a host fed a device.
struct TraceShape {
  std::int64_t launches = 0;
  std::int64_t streams = 1;
  double kernel_us = 0;                ///< about the duration of a kernel
  double launch_us = 0;                ///< about the duration of a call that launches
  std::int64_t synchronise_every = 0;  ///< launches; 0: never
};
/// The shape that a case's parameters of these names give.
TraceShape trace_shape(const Values& parameters);
/// Calls of a host and what they put on the device, in the order in which a profiler delivers them:
/// by their ends. All times are multiples of 1/8 us, so that sums of them are exact.
Trace make_trace(const TraceShape& shape, Random& random);

/// The category of a name by the rule of profile.h.
std::string category_of(const std::string& name);
/// The line of profile.h that decides about it, as advice.
std::string reason_of(const std::string& name);

struct TraceGap {
  double start_us = 0, duration_us = 0;
  std::string cause;
};

/// Which events keep the device busy, and what counts as a gap.
struct GapRule {
  bool copies_are_idle = false;
  bool calls_are_busy = false;
  bool after_the_event_before = false;  ///< from the end of the event that started before, even if
                                        ///< an earlier one still runs
  std::int64_t stream = -1;             ///< one stream alone
};
std::vector<TraceGap> gaps_of(const Trace& trace, const GapRule& rule = {});

}  // namespace rooflab
