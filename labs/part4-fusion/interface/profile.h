#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "toolkit/profiler/profiler.h"

// What a profile says: which kernels ran, what they are, where the time went, and when the GPU had
// nothing to do.
//
// The events are those of toolkit/profiler/profiler.h, in any order:
//
//   kind      kernel, copy and memset ran on the device; api is a call of the CUDA
//             runtime and ran on the host; range is a named part of the program
//   start_us, duration_us
//             microseconds on one clock for all
//   stream    where it ran: events of one stream follow one another, those of two streams may
//             overlap
//   correlation
//             the number that a call shares with everything it put on the device, and with
//             nothing else
//
// Device events are kernels, copies and memsets. All times here are microseconds.

using rooflab::ProfiledEvent;

/// What a kernel computes, by its name.
enum class Category { gemm, elementwise, softmax, layernorm, memory, other };

/// The category of a kernel, copy or memset with this name, as profilers print it. Upper and
/// lower case are the same. Of a template, only what stands before the first '<' counts, since its
/// arguments name other functions. The first line that fits decides:
///
///   memory       begins with "memcpy" or "memset"
///   other        contains "flash", "fmha" or "attention": one kernel that does the work of several
///   gemm         contains "gemm", "gemv", "matmul", "cutlass", "wmma", "xmma" or "splitk"
///   softmax      contains "softmax"
///   layernorm    contains "layernorm", "layer_norm", "rmsnorm" or "rms_norm"
///   elementwise  contains "elementwise", "pointwise", "vectorized", "unrolled" or "triton_poi", or
///                one of its words is add, sub, mul, multiply, div, scale, square, sqrt, rsqrt,
///                pow, exp, tanh, sigmoid, relu, gelu, silu, cast or fill; words are the longest
///                runs of letters and digits
///   other        everything else
Category classify(std::string_view name);

/// Device events by category.
struct CategoryCounts {
  std::int64_t gemm = 0, elementwise = 0, softmax = 0, layernorm = 0, memory = 0, other = 0;
  std::int64_t total = 0;
};
CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events);

/// All device events of one name together.
struct Summary {
  std::string name;
  std::int64_t calls = 0;
  double total_us = 0;
  double mean_us = 0;
  double share = 0;  ///< of the total_us of all names together, 0 … 1
};
/// One for each name, the largest total first; equal totals in the order of their names.
std::vector<Summary> summarise(const std::vector<ProfiledEvent>& events);

/// The name of the kernel (no copy, no memset) with the largest total time; of equal ones the first
/// in the alphabet. Empty when there is no kernel.
std::string top_kernel(const std::vector<ProfiledEvent>& events);

/// Why the device was idle.
enum class GapCause {
  synchronisation,  ///< the host waited for the device first, and gave it new work afterwards
  launch,           ///< the host was late: it was still on its way to this launch
  device,           ///< the work was there: what the device itself needs before it starts
};

/// A time in which no device event ran, on any stream, between two that did.
struct Gap {
  double start_us = 0;     ///< when the last running device event ended
  double duration_us = 0;  ///< until the next one started; > 0
  GapCause cause = GapCause::device;
};

/// The gaps of a profile, in order.
///
/// The cause of a gap comes from the call that issued the device event at its end: the api event of
/// the same correlation. (Where several device events start together, take the one with the
/// smallest correlation.)
///
///   synchronisation   some api event whose name contains "Synchronize" ended within the gap, at
///                     its start and its end included, and not after that call began
///   launch            else: that call ended after the gap began
///   device            else, and where no api event has that correlation
std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events);

/// What one profile of a workload amounts to. Counts and times are those of one iteration: the
/// total of all recorded iterations, divided by their number.
struct WorkloadReport {
  CategoryCounts counts;
  double device_us = 0;  ///< durations of device events, added up
  double span_us = 0;    ///< from the start of the first device event to the end of the last
  std::string top_kernel;
};

/// Profiles `iteration` with rooflab::profile and the schedule {wait 1, warmup 3, active 6}. Every
/// iteration does the same work, and returns without waiting for it on the default stream.
WorkloadReport profile_workload(const std::function<void()>& iteration);
