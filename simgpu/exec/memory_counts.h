#pragma once

#include <cstdint>

namespace simgpu {

/// What handlers count while they run; the rest is derived from how often each instruction ran.
struct MemoryCounts {
  std::uint64_t shared_load_requests = 0, shared_store_requests = 0;
  std::uint64_t shared_load_wavefronts = 0, shared_store_wavefronts = 0;
  std::uint64_t shared_load_conflicts = 0, shared_store_conflicts = 0;
  std::uint64_t shared_atomic_requests = 0, shared_atomic_wavefronts = 0;
  std::uint64_t local_load_requests = 0, local_store_requests = 0;
  std::uint64_t local_load_sectors = 0, local_store_sectors = 0, local_tag_lookups = 0;
  std::uint64_t local_touched_sectors = 0;
  std::uint64_t generic_load_requests = 0, generic_global_load_requests = 0;
  std::uint64_t constant_load_requests = 0, constant_load_wavefronts = 0;
  std::uint64_t branches = 0, divergent_branches = 0, barriers = 0;
  std::uint64_t slept_ns = 0;

  MemoryCounts& operator+=(const MemoryCounts& other);
  bool operator==(const MemoryCounts&) const = default;
};

}  // namespace simgpu
