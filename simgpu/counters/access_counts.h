#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simgpu {

/// What one memory instruction asked of memory: the launch's counters, instruction by instruction.
struct AccessCounts {
  // Of global and local memory, through L1.
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t lines = 0;    ///< distinct 128-byte lines, summed over requests
  std::uint64_t bytes = 0;    ///< that the lanes asked of global memory
  std::uint64_t l1_hits = 0;  ///< sectors of global loads
  // Of the banks of shared memory, and of the constant cache.
  std::uint64_t bank_requests = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t conflicts = 0;  ///< wavefronts beyond those that the data takes in any case

  bool operator==(const AccessCounts&) const = default;
};

/// Each of its numbers, for those who add, scale or compare them.
inline constexpr std::uint64_t AccessCounts::*kAccessFields[] = {
    &AccessCounts::requests,   &AccessCounts::sectors,   &AccessCounts::lines,
    &AccessCounts::bytes,      &AccessCounts::l1_hits,   &AccessCounts::bank_requests,
    &AccessCounts::wavefronts, &AccessCounts::conflicts,
};
static_assert(sizeof(AccessCounts) ==
              sizeof(kAccessFields) / sizeof(kAccessFields[0]) * sizeof(std::uint64_t));

inline AccessCounts& operator+=(AccessCounts& sum, const AccessCounts& other) {
  for (const auto field : kAccessFields) sum.*field += other.*field;
  return sum;
}

/// By instruction (pc). As long as it has to be: instructions beyond its end have asked for
/// nothing.
using AccessCountsByPc = std::vector<AccessCounts>;

/// That of an instruction, to be added to.
inline AccessCounts& accesses_of(AccessCountsByPc& accesses, std::size_t pc) {
  if (pc >= accesses.size()) [[unlikely]]
    accesses.resize(pc + 1);
  return accesses[pc];
}

}  // namespace simgpu
