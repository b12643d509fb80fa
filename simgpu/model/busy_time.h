#pragma once

#include "simgpu/model/work.h"

/// How the terms of the time model make one time: that of a launch without its overhead.
namespace simgpu::model {

/// The throughput term that takes longest. @param terms without the latency
double largest_of(const LimiterTimes& terms);

/// What a block does while its own memory accesses are not under way: barriers, and waits
/// like them, keep its warps together, so that only other resident blocks can fill its stalls, and
/// these have all but 1 / resident of the work. With one resident block throughput and latency add
/// up.
double serial_part(const Work& work, double throughput, double stalled);

/// The time, by what it is due to: its derivative by each of the first three, times that, as it
/// would be without meetings. They add up to that, since a launch of which everything takes twice
/// as long takes twice as long.
struct BusyTime {
  double throughput = 0;  ///< the largest throughput term
  double dram = 0;        ///< DRAM's, where it holds up what waits for it before it is the largest
  double latency = 0;
  /// What would overlap if warps did not keep each other waiting at barriers.
  double meetings = 0;
  double total() const { return throughput + dram + latency + meetings; }
  /// Another time that is due to the same in the same proportion.
  BusyTime scaled_to(double time) const {
    const double factor = total() > 0 ? time / total() : 0;
    return {throughput * factor, dram * factor, latency * factor, meetings * factor};
  }
};

/// The time that throughput and latency take together.
/// @param terms may have the latency among them
BusyTime busy_time(const Work& work, const LimiterTimes& terms, double serial, double latency);

}  // namespace simgpu::model
