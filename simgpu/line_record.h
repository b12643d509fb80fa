#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/dim3.h"
#include "simgpu/finding.h"
#include "simgpu/limiter.h"

/// What a launch's source lines cost, as plain values.
namespace simgpu {

/// The launch's counters, as far as they belong to a line or to an instruction. Warp-level.
struct LineCounters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;  ///< over them: active lanes
  // Of global and local memory.
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;         ///< of 32 bytes
  std::uint64_t asked_bytes = 0;     ///< by the lanes of global requests, one by one
  std::uint64_t l1_hit_sectors = 0;  ///< of global loads
  std::uint64_t l2_sectors = 0;      ///< that went on to L2
  std::uint64_t dram_bytes = 0;      ///< its part of the launch's, read and written
  // Of shared memory and of the constant cache.
  std::uint64_t bank_requests = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t bank_conflicts = 0;
  std::uint64_t barriers = 0;  ///< that warps waited at

  bool operator==(const LineCounters&) const = default;
};
LineCounters& operator+=(LineCounters& sum, const LineCounters& other);
/// Its numbers by the keys that reports have for them, and what is made of several: mean active
/// lanes, sectors of a request.
std::map<std::string, double> by_name(const LineCounters& counters);

/// Where the lanes of one warp went with an instruction, as it happened.
struct AccessPicture {
  bool is_shared = false;   ///< else global memory
  std::uint32_t bytes = 0;  ///< of each lane
  std::uint32_t mask = 0;   ///< lanes that took part
  std::uint64_t block = 0;  ///< of the grid, in order of launch
  std::uint32_t warp = 0;
  /// By lane: bytes from the beginning of the 128-byte line that the lowest of them is in; in
  /// shared memory from the beginning of the block's.
  std::vector<std::uint64_t> offsets;
  /// Sectors of 32 bytes that it took of global memory, or wavefronts of shared memory, and how few
  /// would have brought the same bytes.
  std::uint32_t transactions = 0, fewest = 0;
  bool operator==(const AccessPicture&) const = default;
};

/// One instruction of the PTX.
struct InstructionRecord {
  std::uint32_t ptx_line = 0;  ///< in the kernel's module, from 1
  std::string text;            ///< "ld.global.f32 %f1, [%rd4+128];", as far as it is kept
  double time_us = 0;
  std::optional<Limiter> limiter;
  LineCounters counters;
  std::optional<AccessPicture> picture;
  bool operator==(const InstructionRecord&) const = default;
};

/// Part of a line's cost that comes from one call of the function which the line is in.
struct CallRecord {
  std::vector<InlinedCall> inlined_at;  ///< as AccessSite::inlined_at
  double time_us = 0;
  bool operator==(const CallRecord&) const = default;
};

/// A line of the source.
struct LineRecord {
  std::string file;  ///< as in the PTX's .file
  std::uint32_t line = 0;
  double time_us = 0;              ///< its part of the launch's time
  std::optional<Limiter> limiter;  ///< what most of it is due to
  LineCounters counters;
  std::vector<CallRecord> calls;  ///< empty where it is in the kernel itself; most time first
  std::vector<InstructionRecord> instructions;  ///< in order of the PTX
  bool operator==(const LineRecord&) const = default;
};

/// Of its time, what its barriers take.
double barrier_us(const LineRecord& line);

/// The lines of one launch, and of others that were the same.
struct LineTable {
  // Limits of what is kept.
  static constexpr std::size_t kMostLines = 256;
  static constexpr std::size_t kMostInstructions = 1024;
  static constexpr std::size_t kMostText = 160;
  static constexpr std::size_t kMostPictures = 16;
  static constexpr std::size_t kMostCalls = 16;

  std::string kernel;  ///< as KernelRecord::name, and the next two as well
  Dim3 grid, block;
  double time_us = 0;
  std::vector<LineRecord> lines;  ///< most time first; together the launch's time, but its overhead
  bool operator==(const LineTable&) const = default;
};

}  // namespace simgpu
