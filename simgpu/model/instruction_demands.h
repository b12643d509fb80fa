#pragma once

#include <vector>

#include "simgpu/counters/access_counts.h"
#include "simgpu/model/work.h"

/// What each instruction asks of a resource: by this a term of the time model is shared out.
namespace simgpu::model {

/// Of each instruction something of a whole, which need not be 1.
using Demands = std::vector<double>;
double sum_of(const Demands& demands);

/// Of the time of a throughput term: what limiters.h counts for the launch, of each instruction.
/// Where several kinds of work take turns on the bounding part of the load/store pipe, all of them.
/// Empty where nothing is known of it.
/// @param accesses of each instruction up to the last that has any
Demands demands_of(Limiter term, const Work& work, const AccessCountsByPc& accesses);

/// Bytes that pass between L2 and DRAM for each instruction, in the same proportion to each other
/// as the requests that DRAM served. They add up to the launch's.
struct DramBytes {
  Demands read, written;
};
DramBytes dram_bytes(const Work& work, const AccessCountsByPc& accesses);

/// Waits of warps at barriers.
Demands barrier_waits(const Work& work);

/// Sectors that L2 is asked for by each instruction.
Demands l2_sectors(const Work& work, const AccessCountsByPc& accesses);

/// demands * (whole / their sum); nothing where they are nothing.
Demands scaled_to(double whole, Demands demands);

}  // namespace simgpu::model
