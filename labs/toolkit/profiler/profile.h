#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What a profiler saw, as plain values: the profiler of profiler.h makes them, table.h and
/// chrome_trace.h show them.
namespace rooflab {

/// One thing that took time. All times are microseconds on one clock, whose zero is the start of
/// the profile's first event.
struct ProfiledEvent {
  enum class Kind {
    kernel,
    copy,
    memset,
    api,   ///< a call of host code into the CUDA runtime; the host's time
    range  ///< a named part of the program (Range of profiler.h); the host's time
  };
  Kind kind = Kind::kernel;
  std::string name;  ///< "softmax(float const*, float*, int)", "Memcpy HtoD", "cudaLaunchKernel"
  double start_us = 0;
  double duration_us = 0;
  std::uint64_t correlation = 0;  ///< of a call and of all that it put on the device; else 0

  // Of what ran on the device.
  std::uint64_t stream = 0;              ///< the number that the library of the GPU gave it
  std::uint64_t graph = 0;               ///< not 0: a node of a graph launch
  std::uint64_t bytes = 0;               ///< that a copy or memset moved
  std::array<std::uint32_t, 3> grid{};   ///< blocks of a kernel
  std::array<std::uint32_t, 3> block{};  ///< threads of a block
  std::uint32_t registers_per_thread = 0;
  std::uint64_t shared_bytes = 0;  ///< of a block, static and dynamic
  double blocks_per_sm = 0;        ///< of the grid, over the multiprocessors
  double warps_per_sm = 0;         ///< likewise
  double occupancy = 0;   ///< estimated share of a multiprocessor's threads in use, 0 … 1
  double flops = 0;       ///< counted floating-point operations; 0 where nobody counts
  double dram_bytes = 0;  ///< counted, read and written; 0 where nobody counts
  std::string limiter;    ///< what bounded a kernel's time, where a model of the GPU knows

  // Of what ran on the host.
  std::uint64_t thread = 0;
  std::int64_t memory_bytes = 0;  ///< device memory that a call allocated, or freed (negative)
  double theoretical_flops = 0;   ///< that a range stated as its cost
  double theoretical_bytes = 0;   ///< likewise

  /// Where in Profile::events the innermost range stands in which the host did this or issued it;
  /// kNoRange for none.
  std::ptrdiff_t range = kNoRange;
  static constexpr std::ptrdiff_t kNoRange = -1;
};

/// Whether the event took the device's time rather than the host's.
inline bool is_device_work(const ProfiledEvent& event) {
  return event.kind == ProfiledEvent::Kind::kernel || event.kind == ProfiledEvent::Kind::copy ||
         event.kind == ProfiledEvent::Kind::memset;
}

/// The GPU of a profile, as a trace names it.
struct ProfiledDevice {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  int warp_size = 32;
  int max_threads_per_block = 0, max_threads_per_multiprocessor = 0;
  int registers_per_block = 0, registers_per_multiprocessor = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t shared_bytes_per_block = 0, shared_bytes_per_block_optin = 0;
  std::uint64_t shared_bytes_per_multiprocessor = 0;
  std::uint64_t reserved_shared_bytes_per_block = 0;  ///< that the system adds to each block's own
};

/// All that happened while a program was profiled.
struct Profile {
  std::string name;                   ///< of the run, where several stand in one trace
  std::vector<ProfiledEvent> events;  ///< by start
  ProfiledDevice device;
  int iterations = 0;         ///< that were recorded
  bool modelled = false;      ///< times come from a model of the GPU, not from a clock
  std::uint64_t dropped = 0;  ///< records that were lost; a profile with some is incomplete
};

}  // namespace rooflab
