#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "simgpu/lower/control_flow.h"
#include "simgpu/lower/pending.h"

namespace simgpu {

/// Where virtual registers live in the register file of a warp.
struct Allocation32 {
  std::vector<std::uint32_t> offset;         ///< byte offset by virtual register
  std::uint32_t bytes = 0;                   ///< of the file so far
  std::vector<std::uint32_t> live_at_entry;  ///< registers that may be read before they are written
  /// Registers that a block which ends in a call leaves to the code behind it, by block.
  std::map<std::uint32_t, std::vector<std::uint32_t>> live_after_call;
  /// As live_at_entry, for each of ControlFlow::starts.
  std::vector<std::vector<std::uint32_t>> live_at_start;
  /// From the instruction that may write a register first to the one that may read it last.
  struct Life {
    std::uint32_t first = 0, last = 0;
  };
  std::vector<Life> lives;       ///< by virtual register; first > last: it has none
  std::uint32_t peak_words = 0;  ///< most 32-bit values alive at once
};

/// Gives every virtual register a slot, sharing slots between registers that are never alive
/// together (linear scan over live intervals), so that the file stays small enough for the cache.
/// Predicates come first (4 bytes), then 32-bit and 64-bit slots.
/// @throws std::runtime_error when the kernel is too large to be analysed
Allocation32 allocate_registers(const std::vector<Pending>& code, const ControlFlow& flow,
                                const std::vector<SlotKind>& kinds);

}  // namespace simgpu
