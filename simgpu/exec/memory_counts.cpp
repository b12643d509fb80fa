#include "simgpu/exec/memory_counts.h"

namespace simgpu {

MemoryCounts& MemoryCounts::operator+=(const MemoryCounts& other) {
  shared_load_requests += other.shared_load_requests;
  shared_store_requests += other.shared_store_requests;
  shared_load_wavefronts += other.shared_load_wavefronts;
  shared_store_wavefronts += other.shared_store_wavefronts;
  shared_load_conflicts += other.shared_load_conflicts;
  shared_store_conflicts += other.shared_store_conflicts;
  shared_atomic_requests += other.shared_atomic_requests;
  shared_atomic_wavefronts += other.shared_atomic_wavefronts;
  local_load_requests += other.local_load_requests;
  local_store_requests += other.local_store_requests;
  local_load_sectors += other.local_load_sectors;
  local_store_sectors += other.local_store_sectors;
  local_tag_lookups += other.local_tag_lookups;
  local_touched_sectors += other.local_touched_sectors;
  generic_load_requests += other.generic_load_requests;
  generic_global_load_requests += other.generic_global_load_requests;
  constant_load_requests += other.constant_load_requests;
  constant_load_wavefronts += other.constant_load_wavefronts;
  branches += other.branches;
  divergent_branches += other.divergent_branches;
  barriers += other.barriers;
  slept_ns += other.slept_ns;
  return *this;
}

}  // namespace simgpu
