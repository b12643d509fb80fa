#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "simgpu/checkers/block_checkers.h"
#include "simgpu/exec/undefined_values.h"
#include "simgpu/exec/warp.h"

namespace simgpu {

/// Bytes to which a lane stores what is itself unwritten.
struct UnwrittenStore {
  InstructionClass cls = InstructionClass::other;  ///< of the store
  unsigned lane = 0;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

/// Follows undefined values through the instructions of a warp, each before it is executed, and
/// reports those that are used: stored, or deciding where a thread goes or what it accesses.
class ValueFollower {
 public:
  ValueFollower(const LoweredKernel& kernel, UndefinedValues& values, BlockCheckers& checkers,
                std::uint64_t block)
      : kernel_(kernel), values_(values), checkers_(checkers), block_(block) {}

  /// @returns what is to be marked as unwritten once the instruction has been executed
  std::vector<UnwrittenStore> look_at(const Lowered* in, Warp& warp);

 private:
  bool concerns(const InstructionInfo& info) const;
  void exchange(const Lowered* in, Warp& warp, std::uint32_t lanes);
  void shuffle(const Lowered* in, Warp& warp, std::uint32_t lanes);
  void ballot(const InstructionInfo& info, std::uint32_t lanes);
  void vote(const Lowered* in, const Warp& warp, std::uint32_t lanes);
  void compute(const Lowered* in, Warp& warp, std::uint32_t lanes);
  std::vector<UnwrittenStore> store(const Lowered* in, const Warp& warp, std::uint32_t lanes);
  void use(const Lowered* in, const Warp& warp, std::uint32_t reg, std::uint32_t lanes);
  void use_all(const Lowered* in, const Warp& warp, std::uint32_t lanes);
  void define_results(const InstructionInfo& info, std::uint32_t lanes);
  std::uint16_t known_origin(const Lowered* in, const Warp& warp, std::uint32_t reg, unsigned lane,
                             bool moves);

  const LoweredKernel& kernel_;
  UndefinedValues& values_;
  BlockCheckers& checkers_;
  std::uint64_t block_;
};

}  // namespace simgpu
