#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// What malloc, free, new and delete in kernels hand out. Each allocation is one of the device's,
/// so that accesses beside it or after free are told of; it lives until a kernel frees it.
class KernelHeap {
 public:
  /// cudaLimitMallocHeapSize of a GPU whose program has not set it.
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{8} << 20;

  explicit KernelHeap(DeviceMemory& memory) : memory_(memory) {}

  /// Device address, aligned to 16; 0 when the heap is full.
  std::uint64_t allocate(std::uint64_t bytes);
  /// False when `address` was not handed out, or is free already.
  bool release(std::uint64_t address);
  /// What there is now stays when what came since is freed.
  void keep();
  void release_since_kept();
  /// Frees everything and gives the heap its default size.
  void reset();
  std::uint64_t bytes() const { return capacity_; }
  /// False once the heap has handed something out: like CUDA's, it keeps its size from then on.
  bool resize(std::uint64_t bytes);
  /// Bytes of each allocation that is not free, by address.
  const std::map<std::uint64_t, std::uint64_t>& live() const { return live_; }

 private:
  DeviceMemory& memory_;
  std::uint64_t capacity_ = kDefaultBytes;
  std::uint64_t used_ = 0;
  bool in_use_ = false;  ///< has handed something out
  std::map<std::uint64_t, std::uint64_t> live_;
  std::set<std::uint64_t> kept_;
};

}  // namespace simgpu
