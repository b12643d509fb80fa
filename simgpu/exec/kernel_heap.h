#pragma once

#include <cstdint>
#include <map>

#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// What malloc, free, new and delete in kernels hand out. Each allocation is one of the device's,
/// so that accesses beside it or after free are told of; it lives until a kernel frees it.
class KernelHeap {
 public:
  /// cudaLimitMallocHeapSize of a GPU whose program has not set it.
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{8} << 20;

  explicit KernelHeap(DeviceMemory& memory, std::uint64_t bytes = kDefaultBytes)
      : memory_(memory), capacity_(bytes) {}

  /// Device address, aligned to 16; 0 when the heap is full.
  std::uint64_t allocate(std::uint64_t bytes);
  /// False when `address` was not handed out, or is free already.
  bool release(std::uint64_t address);
  void release_all();
  /// Bytes of each allocation that is not free, by address.
  const std::map<std::uint64_t, std::uint64_t>& live() const { return live_; }

 private:
  DeviceMemory& memory_;
  const std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::map<std::uint64_t, std::uint64_t> live_;
};

}  // namespace simgpu
