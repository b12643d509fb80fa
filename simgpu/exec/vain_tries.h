#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/isa/lowered.h"

/// How lanes show that they wait for others: they do the same again and again, and nothing changes.
namespace simgpu {

/// What lanes did last that may be one of many tries: an instruction, its addresses and values.
struct Poll {
  const Lowered* in = nullptr;
  std::vector<std::byte> bytes;

  /// Keeps what `by` has seen now. Whether it is what was kept.
  bool repeats(const Lowered* by, std::span<const std::byte> values,
               std::span<const std::byte> addresses);
};

/// Loads and atomics that may be tries, one after the other, while their block changed nothing: by
/// instruction what each saw last.
struct VainTries {
  static constexpr std::size_t kMostPolls = 32;
  std::vector<Poll> polls;
  std::uint32_t times = 0;    ///< that one of them saw what it had seen before
  std::uint32_t atomics = 0;  ///< among these
  std::uint64_t effects = 0;  ///< MemoryChanges::effects() at that time

  /// A load that may be one of many, or an atomic that has changed nothing.
  /// @param effects_now MemoryChanges::effects()
  void note(const Lowered* in, std::span<const std::byte> values,
            std::span<const std::byte> addresses, bool is_atomic, std::uint64_t effects_now);
  /// Whether the same was tried so often that the lanes seem to wait.
  bool reach(std::uint32_t often, std::uint64_t effects_now) const {
    return times >= often && effects == effects_now;
  }
};

}  // namespace simgpu
