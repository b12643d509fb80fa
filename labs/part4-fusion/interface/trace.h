#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "toolkit/profiler/profiler.h"

// A trace: what a program did, call by call and kernel by kernel, in a file that a person can open
// and a program can read.

using rooflab::ProfiledEvent;

/// Records `program` with rooflab::profile and the schedule {wait 1, warmup 2, active 3}, and
/// writes what it saw to `file` as a Chrome trace (rooflab::chrome_trace of
/// toolkit/profiler/chrome_trace.h), the format that ui.perfetto.dev and chrome://tracing open.
/// `program` leaves its work under way.
void export_trace(const std::function<void()>& program, const std::filesystem::path& file);

/// Two kernels of which one follows the other: what a fused kernel could do in one launch.
struct KernelPair {
  std::string first, second;  ///< their names
  std::int64_t times = 0;     ///< how often the second follows the first
  double total_us = 0;        ///< durations of both, added up over all those times
};

/// The pairs of neighbours in a profile. Two kernels are neighbours when they ran on the same
/// stream, and no kernel, copy or memset of that stream started between their starts. A kernel may
/// be the second of one pair and the first of the next. Pairs of the same two names in the same
/// order are one entry.
///
/// The largest total_us comes first; of equal ones that with the smaller first name, then with the
/// smaller second name (as std::string compares). The events are those of a profile, in any order:
/// interface/profile.h says what is in them. No two events of a stream start at the same time.
std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events);
