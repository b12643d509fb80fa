#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/report.h"
#include "specs/gpu_spec.h"

/// Global atomics that have to wait for each other: those on one address, and those that one slice
/// of L2 serves. docs/design/time-model.md has the measurements behind it.
namespace simgpu {

/// What a block, or a whole launch, did to one address by atomics.
struct AtomicUse {
  std::uint64_t address = 0;     ///< from the beginning of device memory
  std::uint64_t combined = 0;    ///< requests: of integers, a warp's lanes on one address are one
  std::uint64_t one_by_one = 0;  ///< lanes: floating-point numbers, exchange, compare and swap
  std::uint64_t lanes = 0;       ///< operations of threads, of either kind
};

/// What a block, or a launch, asked of the bytes that one slice of L2 has side by side.
struct SliceUse {
  std::uint64_t slice = 0;     ///< number of such a piece of memory
  std::uint64_t requests = 0;  ///< sectors, summed over warps' requests
};

/// Of one finished block, in order of address.
struct BlockAtomics {
  std::vector<AtomicUse> addresses;
  std::vector<SliceUse> slices;
};

/// Gathers the atomics of one block while it runs.
class AtomicUses {
 public:
  /// @param access an atomic of a warp on global memory
  void add(const WarpAccess& access);
  /// Hands over what was gathered, and begins anew.
  BlockAtomics take();

 private:
  std::unordered_map<std::uint64_t, AtomicUse> addresses_;
  std::unordered_map<std::uint64_t, std::uint64_t> slices_;
};

/// Adds up the atomics of a launch's blocks, which have to come in the same order in every run.
class AtomicContention {
 public:
  void add(const BlockAtomics& block);
  /// Sets the counters of the busiest address.
  void finish(const gpu_spec::GpuSpec& gpu, KernelCounters& counters) const;

 private:
  std::unordered_map<std::uint64_t, AtomicUse> addresses_;
  std::unordered_map<std::uint64_t, std::uint64_t> slices_;
};

}  // namespace simgpu
