#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "simgpu/counters/local_memory.h"
#include "simgpu/exec/launch_context.h"

namespace simgpu {

/// Memory of fixed size, aligned for vector loads.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  /// Zeros; pages that nobody touches (deep stacks) cost nothing.
  explicit AlignedBytes(std::size_t bytes)
      : size_(bytes), memory_(static_cast<std::byte*>(std::calloc(bytes + 2 * kAlignment, 1))) {
    if (memory_ == nullptr) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    data_ = memory_.get() + (kAlignment - address % kAlignment) % kAlignment;
  }
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[], Free> memory_;
  std::byte* data_ = nullptr;
};

/// Bytes of shared memory of a block, of local memory of a thread, and of the frames of its calls.
struct BlockMemorySizes {
  explicit BlockMemorySizes(const LaunchContext& launch);

  std::uint32_t shared = 0;
  std::uint32_t local = 0;
  std::uint32_t frame = 0;
};

/// The memory that belongs to the block that runs: registers, shared and local memory, and what its
/// threads' calls hold.
class BlockMemory {
 public:
  explicit BlockMemory(const LaunchContext& launch);

  /// As a block finds it: shared memory and the kernel's own local variables are zeros.
  void begin_block();

  std::byte* registers(std::uint32_t warp) const { return registers_.data() + warp * stride_; }
  std::byte* shared() const { return shared_.data(); }
  std::uint32_t shared_bytes() const { return sizes_.shared; }
  std::byte* local(std::uint32_t warp, unsigned lane) const {
    return local_.data() + std::size_t{warp * kWarpSize + lane} * sizes_.local;
  }
  std::uint32_t local_bytes() const { return sizes_.local; }
  LocalMemoryUse& local_use() { return local_use_; }
  std::byte* frame(std::uint32_t warp, unsigned lane) const {
    return frame_.data() + std::size_t{warp * kWarpSize + lane} * sizes_.frame;
  }
  std::uint32_t frame_bytes() const { return sizes_.frame; }
  /// Bytes of the thread's stack that alloca has taken.
  std::uint32_t& allocated_stack(std::uint32_t warp, unsigned lane) {
    return allocated_stack_[warp * kWarpSize + lane];
  }

  /// All of it, for who compares it with what it was.
  std::span<const std::byte> all_shared() const { return {shared_.data(), shared_.size()}; }
  std::span<const std::byte> all_local() const { return {local_.data(), local_.size()}; }
  std::span<const std::byte> all_frames() const { return {frame_.data(), frame_.size()}; }
  /// But for shared memory.
  std::size_t bytes_of_threads() const { return registers_.size() + local_.size() + frame_.size(); }

 private:
  BlockMemorySizes sizes_;
  std::uint32_t own_local_bytes_;  ///< of the kernel's local variables
  std::size_t stride_;             ///< of warps' registers
  AlignedBytes registers_, shared_, local_, frame_;
  LocalMemoryUse local_use_;
  std::vector<std::uint32_t> allocated_stack_;  ///< by thread, where the kernel has alloca
};

}  // namespace simgpu
