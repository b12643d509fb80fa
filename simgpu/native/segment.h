#pragma once

#include <cstddef>
#include <cstdint>

#include "simgpu/exec/memory_counts.h"
#include "simgpu/exec/site_pattern.h"

/// What the engine and the native code that it loads have in common. The text of native code holds
/// this file.
namespace simgpu::native {

/// What a segment works on: a run of instructions of one basic block, of one warp whose 32 lanes
/// all execute it.
struct Segment {
  std::byte* regs = nullptr;
  std::byte* shared = nullptr;
  std::uint32_t shared_bytes = 0;
  MemoryCounts* counts = nullptr;
  std::uint64_t* guarded_threads = nullptr;            ///< by instruction
  SitePattern<std::uint32_t>* shared_sites = nullptr;  ///< by Lowered::site
  void* warp = nullptr;

  /// Has the site of a shared access learn the pattern of the addresses in its base register.
  void (*learn)(Segment&, std::uint32_t index, std::uint32_t bytes,
                const std::uint32_t* base) = nullptr;
};

/// Returns how many instructions it has done: all, or those before one that it leaves to the
/// interpreter.
using SegmentFunction = std::uint32_t (*)(Segment&);

/// What a shared object exports, as `segments`.
struct SegmentTable {
  std::uint64_t count = 0;
  const SegmentFunction* functions = nullptr;
};
inline constexpr const char* kTableName = "simgpu_segments";

}  // namespace simgpu::native
