#include "simgpu/device/memory_pools.h"

#include <algorithm>

namespace simgpu {
namespace {

constexpr std::size_t kMostPools = 1024;

}  // namespace

MemoryPool* MemoryPools::find(std::uint64_t number) {
  const auto found = pools_.find(number);
  return found == pools_.end() ? nullptr : &found->second;
}

CudaError MemoryPools::create(std::uint64_t* number) {
  if (pools_.size() >= kMostPools) return CudaError::memory_allocation;
  *number = next_++;
  pools_[*number];
  return CudaError::success;
}

CudaError MemoryPools::destroy(std::uint64_t number) {
  if (number == 0 || pools_.erase(number) == 0) return CudaError::invalid_value;
  return CudaError::success;
}

void MemoryPools::synchronized() {
  for (auto& [number, pool] : pools_) pool.synchronized();
}

std::uint64_t MemoryPools::idle_bytes() const {
  std::uint64_t idle = 0;
  for (const auto& [number, pool] : pools_) {
    idle += pool.reserved() - std::min(pool.reserved(), pool.used());
  }
  return idle;
}

}  // namespace simgpu
