#pragma once

#include "simgpu/model/work.h"

/// Where local memory lies. Each resident thread has its own, in the same place as that of the
/// thread before it, so that it needs no room but that of the resident warps: in L1 as far as it
/// fits there, then in L2, then in DRAM.
namespace simgpu::model {

struct LocalShares {
  double l1 = 1;  ///< of local sectors, that L1 serves
  double l2 = 1;  ///< of the others, that L2 serves
};

/// Which sectors are in a cache is as good as chance, so that its share is its size over that of
/// what is touched.
LocalShares local_shares(const Work& work);

/// Adds what local memory has L2 and DRAM do. Stores are written back from L1.
void add_local_traffic(const LocalShares& shares, KernelCounters& counters);

}  // namespace simgpu::model
