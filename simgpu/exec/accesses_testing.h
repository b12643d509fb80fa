#pragma once

#include <gtest/gtest.h>

#include "simgpu/exec/engine.h"

namespace simgpu::testing {

/// What instructions asked of memory is, together, what the launch asked of it.
inline void expect_accesses_add_up(const LaunchResult& result) {
  AccessCounts sum;
  for (const AccessCounts& one : result.accesses) sum += one;
  const KernelCounters& c = result.counters;
  EXPECT_EQ(sum.requests, c.global_load_requests + c.global_store_requests +
                              c.global_atomic_requests + c.local_load_requests +
                              c.local_store_requests);
  EXPECT_EQ(sum.sectors, c.global_load_sectors + c.global_store_sectors + c.global_atomic_sectors +
                             c.local_load_sectors + c.local_store_sectors);
  EXPECT_EQ(sum.lines, c.l1_tag_lookups + c.local_tag_lookups);
  EXPECT_EQ(sum.bytes, c.global_load_bytes + c.global_store_bytes + c.global_atomic_bytes);
  EXPECT_EQ(sum.l1_hits, c.l1_hit_sectors);
  EXPECT_EQ(sum.bank_requests, c.shared_load_requests + c.shared_store_requests +
                                   c.shared_atomic_requests + c.constant_load_requests);
  EXPECT_EQ(sum.wavefronts, c.shared_load_wavefronts + c.shared_store_wavefronts +
                                c.shared_atomic_wavefronts + c.constant_load_wavefronts);
}

}  // namespace simgpu::testing
