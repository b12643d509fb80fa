#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/bounded_sums.h"
#include "simgpu/report.h"
#include "specs/gpu_spec.h"

/// Global atomics that have to wait for each other: those on one address, and those that one slice
/// of L2 serves. docs/design/time-model.md has the measurements behind it.
namespace simgpu {

/// What a block, or a whole launch, did to one address by atomics.
struct AtomicUse {
  std::uint64_t combined = 0;    ///< requests: of integers, a warp's lanes on one address are one
  std::uint64_t one_by_one = 0;  ///< lanes: floating-point numbers, exchange, compare and swap
  std::uint64_t lanes = 0;       ///< operations of threads, of either kind

  AtomicUse& operator+=(const AtomicUse& other);
};
std::uint64_t weight_of(const AtomicUse& use);
void take_larger(AtomicUse& use, const AtomicUse& other);

/// What a block, or a launch, asked of the bytes that one slice of L2 has side by side.
struct SliceUse {
  std::uint64_t requests = 0;  ///< sectors, summed over warps' requests

  SliceUse& operator+=(const SliceUse& other);
};
std::uint64_t weight_of(const SliceUse& use);
void take_larger(SliceUse& use, const SliceUse& other);

template <typename Use>
struct UseAt {
  std::uint64_t key = 0;  ///< address from the beginning of device memory, or number of a slice
  Use use;
};

/// Of one finished block, in order of keys.
struct BlockAtomics {
  std::vector<UseAt<AtomicUse>> addresses;
  std::vector<UseAt<SliceUse>> slices;
  AtomicUse of_others;         ///< what each other address may have had
  SliceUse of_other_slices;    ///< likewise
  std::uint64_t requests = 0;  ///< of all slices
};

/// How many addresses, and slices, of a block or a launch are told apart.
inline constexpr std::size_t kMostAtomicKeys = std::size_t{1} << 20;

/// Gathers the atomics of one block while it runs.
class AtomicUses {
 public:
  /// @param access an atomic of a warp on global memory
  void add(const WarpAccess& access);
  /// Hands over what was gathered, and begins anew.
  BlockAtomics take();

 private:
  BoundedSums<AtomicUse> addresses_{kMostAtomicKeys};
  BoundedSums<SliceUse> slices_{kMostAtomicKeys};
  std::uint64_t requests_ = 0;
};

/// Adds up the atomics of a launch's blocks, which have to come in the same order in every run.
class AtomicContention {
 public:
  /// @param room how many addresses and slices are told apart
  explicit AtomicContention(std::size_t room = kMostAtomicKeys) : addresses_(room), slices_(room) {}
  void add(const BlockAtomics& block);
  /// Sets the counters of the busiest address.
  void finish(const gpu_spec::GpuSpec& gpu, KernelCounters& counters) const;

 private:
  BoundedSums<AtomicUse> addresses_;
  BoundedSums<SliceUse> slices_;
  std::uint64_t requests_ = 0;  ///< of all slices
};

}  // namespace simgpu
