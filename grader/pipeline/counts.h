#pragma once

#include "grader/device/device.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// What a GPU's caches and DRAM move at a time.
inline constexpr std::uint64_t kSectorBytes = 32;

/// Bytes that kernels, copies and fills moved across DRAM, by the device's count. A copy within the
/// device reads and writes each of its bytes.
double dram_bytes(const simgpu::Activity& activity);

/// Adds to `timing` what the device counted of the timed call, launches and DRAM bytes, and the
/// points for them. Where it keeps no records, the time tells instead: its efficiency earns these
/// points too. A call of more launches than the device records earns none, since what it did
/// afterwards is not known.
void add_counts(const RunOutcome& outcome, const SpeedSpec& speed, Timing& timing);

/// Peak device memory of a call beyond what its problem's tensors take; nothing where the device
/// keeps no records.
std::optional<std::uint64_t> peak_memory(const RunOutcome& outcome, const Problem& problem);

}  // namespace rooflab
