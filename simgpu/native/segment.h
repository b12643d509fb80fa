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

  /// Does what the interpreter does at an instruction.
  void (*interpret)(Segment&, std::uint32_t index) = nullptr;
  /// Has the site of a shared access learn the pattern of its addresses.
  void (*learn)(Segment&, std::uint32_t index, std::uint32_t bytes) = nullptr;
};

using SegmentFunction = void (*)(Segment&);

/// What a shared object exports, as `segments`.
struct SegmentTable {
  std::uint64_t count = 0;
  const SegmentFunction* functions = nullptr;
};
inline constexpr const char* kTableName = "simgpu_segments";

}  // namespace simgpu::native
