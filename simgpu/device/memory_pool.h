#pragma once

#include <algorithm>
#include <cstdint>

namespace simgpu {

/// The figures of the default stream-ordered memory pool, cudaMemPoolAttr…: what is in use, and
/// what the pool holds from the GPU, which grows in steps and is given back at synchronisation down
/// to a threshold.
class MemoryPool {
 public:
  static constexpr std::uint64_t kStep = 32u
                                         << 20;  ///< the driver reserves memory in steps of 32 MiB

  void add(std::uint64_t bytes) {
    used_ += bytes;
    used_high_ = std::max(used_high_, used_);
    reserved_ = std::max(reserved_, round_up(used_));
    reserved_high_ = std::max(reserved_high_, reserved_);
  }
  void remove(std::uint64_t bytes) { used_ -= std::min(bytes, used_); }
  /// Gives back what is reserved beyond `keep` and not in use.
  void trim(std::uint64_t keep) {
    reserved_ = std::max(round_up(used_), std::min(reserved_, round_up(keep)));
  }
  void synchronized() { trim(release_threshold); }

  std::uint64_t used() const { return used_; }
  std::uint64_t used_high() const { return used_high_; }
  std::uint64_t reserved() const { return reserved_; }
  std::uint64_t reserved_high() const { return reserved_high_; }
  void reset_used_high() { used_high_ = used_; }
  void reset_reserved_high() { reserved_high_ = reserved_; }

  std::uint64_t release_threshold = 0;

 private:
  static std::uint64_t round_up(std::uint64_t bytes) {
    if (bytes > ~std::uint64_t{0} - kStep) return ~std::uint64_t{0} / kStep * kStep;
    return (bytes + kStep - 1) / kStep * kStep;
  }

  std::uint64_t used_ = 0, used_high_ = 0;
  std::uint64_t reserved_ = 0, reserved_high_ = 0;
};

}  // namespace simgpu
