#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/lower/pending.h"

namespace simgpu {

/// A load that compilers have moved out of a branch: `x = found ? value : -1` loads the thread's
/// own variable `value` in any case, and drops what it loaded unless `found`. No program can know
/// of it, so that only lanes which keep what they loaded may be told that nobody wrote it.
struct SpeculatedLoad {
  std::uint32_t index = 0;  ///< of the instruction
  Ref keeps;                ///< a predicate; it holds its value from before the load on
  bool keeps_if_false = false;
};

/// @param first index of the first instruction of each basic block, and behind the last one
std::vector<SpeculatedLoad> find_speculated_loads(const std::vector<Pending>& code,
                                                  const std::vector<std::uint32_t>& first,
                                                  std::size_t registers);

}  // namespace simgpu
