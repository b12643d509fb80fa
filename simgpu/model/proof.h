#pragma once

#include <cstdint>
#include <string>

#include "simgpu/report.h"

namespace simgpu {

/// The counter that proves what limits a kernel.
struct Proof {
  std::string counter;  ///< key of nsight_counters(); empty where none tells
  double value = 0;
  std::string says;  ///< a clause: "31 % of the shared-memory wavefronts are bank conflicts"
  /// What helps against just that; empty where it is what usually helps against the limiter.
  std::string change = {};
};

/// "33.6 million" for 33554432; below a million all digits.
std::string count_in_words(std::uint64_t count);

/// What helps against bank conflicts of this kernel and keeps it right: rows that tensor cores or
/// vector accesses read have to start at multiples of 16 bytes.
const char* advice_against_conflicts(const KernelCounters& counters);

/// What helps against spilled registers.
inline constexpr const char* kHoldFewerValues =
    "let each thread hold fewer values at a time, or let it have more registers: fewer blocks for "
    "each multiprocessor in __launch_bounds__, or smaller blocks; ptxas -v tells how much it "
    "spills";

/// @param sm_count multiprocessors of the GPU
Proof proof_of(const KernelRecord& kernel, int sm_count);

/// How many times as long the kernel takes because warps, or SMs and their schedulers, have more to
/// do than the mean one; 1 where that is less than twice as long.
double unevenness(const KernelRecord& kernel);

/// What helps then.
inline constexpr const char* kShareEvenly =
    "share the work evenly: give every warp of a block, and every block, as many elements as the "
    "others, and let none wait while one goes over all of them";

}  // namespace simgpu
