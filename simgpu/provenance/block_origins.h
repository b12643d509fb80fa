#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "simgpu/exec/async_copies.h"
#include "simgpu/isa/lowered.h"
#include "simgpu/provenance/memory_origins.h"
#include "simgpu/warp_size.h"

namespace simgpu {

/// What the registers of a warp were made of.
class WarpOrigins {
 public:
  using Lanes = std::array<ValueOrigins, kWarpSize>;

  explicit WarpOrigins(std::size_t registers)
      : registers_(registers), local_(kWarpSize), frame_(kWarpSize) {}

  /// Of a register, by lane. A literal is made of nothing.
  const Lanes& of(std::uint32_t reg) const {
    static constexpr Lanes kNothing{};
    return reg == InstructionInfo::kNoRegister ? kNothing : registers_[reg];
  }
  /// Whether any lane's value is made of anything.
  bool any(std::uint32_t reg) const {
    ValueOrigins all = OriginSets::kNone;
    for (const ValueOrigins value : of(reg)) all |= value;
    return all != OriginSets::kNone;
  }
  void set(std::uint32_t reg, unsigned lane, ValueOrigins value) {
    if (reg != InstructionInfo::kNoRegister) registers_[reg][lane] = value;
  }

  /// A lane enters a function with a body of its own, whose registers are those of every call.
  /// False where calls are so deep that what the caller has is not kept.
  bool push(unsigned lane);
  void pop(unsigned lane);

  OwnOrigins& local(unsigned lane) { return local_[lane]; }
  OwnOrigins& frame(unsigned lane) { return frame_[lane]; }

  /// The copies that are under way, with the origins of their words in place of these.
  AsyncCopies copies;

 private:
  std::vector<Lanes> registers_;
  std::vector<OwnOrigins> local_, frame_;
  static constexpr std::size_t kMostKept = std::size_t{1} << 20;
  struct Callers {
    std::vector<std::vector<ValueOrigins>> registers;
    std::size_t not_kept = 0;  ///< calls behind these
  };
  std::array<Callers, kWarpSize> callers_;
  std::size_t kept_ = 0;  ///< values of all callers
};

/// Those of a block that runs, and what its shared memory was made of.
struct BlockOrigins {
  BlockOrigins(std::uint64_t of_block, std::size_t warp_count, std::size_t registers)
      : block(of_block), warps(warp_count, WarpOrigins(registers)) {}

  std::uint64_t block;
  OwnOrigins shared;
  std::vector<WarpOrigins> warps;
};

}  // namespace simgpu
