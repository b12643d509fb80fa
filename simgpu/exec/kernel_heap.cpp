#include "simgpu/exec/kernel_heap.h"

#include <algorithm>
#include <optional>

namespace simgpu {
namespace {

/// Of the heap, for an allocation of `bytes`: as CUDA's, in steps of 16 and with a header.
std::uint64_t cost_of(std::uint64_t bytes) { return (bytes + 15) / 16 * 16 + 16; }

}  // namespace

std::uint64_t KernelHeap::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > capacity_ || cost_of(bytes) > capacity_ - used_) return 0;
  const std::optional<std::uint64_t> address = memory_.allocate(bytes, "malloc in a kernel");
  if (!address) return 0;
  live_.emplace(*address, bytes);
  used_ += cost_of(bytes);
  in_use_ = true;
  return *address;
}

bool KernelHeap::release(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  memory_.release(address);
  used_ -= cost_of(found->second);
  live_.erase(found);
  return true;
}

void KernelHeap::keep() {
  kept_.clear();
  for (const auto& [address, bytes] : live_) kept_.insert(address);
}

void KernelHeap::release_since_kept() {
  std::vector<std::uint64_t> since;
  for (const auto& [address, bytes] : live_) {
    if (!kept_.contains(address)) since.push_back(address);
  }
  for (const std::uint64_t address : since) release(address);
}

void KernelHeap::reset() {
  for (const auto& [address, bytes] : live_) memory_.release(address);
  live_.clear();
  kept_.clear();
  used_ = 0;
  capacity_ = kDefaultBytes;
  in_use_ = false;
}

bool KernelHeap::resize(std::uint64_t bytes) {
  if (in_use_) return false;
  capacity_ = bytes;
  return true;
}

}  // namespace simgpu
