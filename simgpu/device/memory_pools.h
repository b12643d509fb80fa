#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/memory_pool.h"

namespace simgpu {

/// The guest's stream-ordered memory pools by number. The default pool, number 0, is always there.
class MemoryPools {
 public:
  /// nullptr when there is none of this number.
  MemoryPool* find(std::uint64_t number);
  CudaError create(std::uint64_t* number);
  /// Its allocations stay until they are freed.
  CudaError destroy(std::uint64_t number);
  /// The host has waited for the device: pools give back what they need not keep.
  void synchronized();
  /// What they hold from the GPU and nobody uses.
  std::uint64_t idle_bytes() const;
  /// How many the guest has created and not destroyed.
  std::size_t created() const { return pools_.size() - 1; }
  void forget_all() { pools_ = {{0, {}}}; }

 private:
  std::map<std::uint64_t, MemoryPool> pools_{{0, {}}};
  std::uint64_t next_ = 1;
};

}  // namespace simgpu
