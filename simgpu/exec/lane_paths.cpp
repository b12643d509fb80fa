#include "simgpu/exec/lane_paths.h"

#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu {
namespace {

enum class Ahead { exit, meeting, effect };

/// @param index where to look from; then, where that is
/// @param may_store plain stores do not count
Ahead ahead_of(const LoweredKernel& kernel, std::uint32_t& index, bool may_store = false) {
  constexpr int kFarthest = 256;
  for (int i = 0; i < kFarthest && index < kernel.code.size(); ++i) {
    const Lowered& in = kernel.code[index];
    if (in.run == hidden::kExit && in.guarded == nullptr) return Ahead::exit;
    const InstructionInfo& info = kernel.info.instructions[index];
    switch (info.cls) {
      case InstructionClass::barrier:
        if (info.access_bytes > 0) return Ahead::effect;  // an arrival waits for nobody
        return Ahead::meeting;
      case InstructionClass::warp_exchange:
        return Ahead::meeting;
      case InstructionClass::global_store:
        if (!may_store) return Ahead::effect;
        ++index;
        break;
      case InstructionClass::global_load:
      case InstructionClass::shared_load:
        // What both ways load, a compiler loads before they part: who loads goes on.
        if (may_store) return Ahead::effect;
        ++index;
        break;
      case InstructionClass::global_atomic:
      case InstructionClass::shared_store:
      case InstructionClass::shared_atomic:
      case InstructionClass::async_copy:
      case InstructionClass::generic_access:
        return Ahead::effect;
      case InstructionClass::control:
        if (in.run != hidden::kJump && in.run != hidden::kBranchAlways) return Ahead::effect;
        index = in.target;
        break;
      default:
        ++index;
        break;
    }
  }
  return Ahead::effect;
}

}  // namespace

bool does_nothing(const LoweredKernel& kernel, std::uint32_t index) {
  return ahead_of(kernel, index) != Ahead::effect;
}

bool only_exits(const LoweredKernel& kernel, std::uint32_t index) {
  return index == kNowhere || ahead_of(kernel, index) == Ahead::exit;
}

bool only_stores_and_exits(const LoweredKernel& kernel, std::uint32_t index) {
  return index == kNowhere || ahead_of(kernel, index, true) == Ahead::exit;
}

std::uint32_t branch_around(const LoweredKernel& kernel, std::uint32_t place) {
  std::uint32_t branch = kNowhere, innermost = 0;
  for (const Lowered& in : kernel.code) {
    if (in.run != hidden::kBranch) continue;
    const bool skips = in.index < place && in.target > place && in.reconvergence > place;
    const bool falls_in =
        in.index < place && in.target <= place && in.target > in.index && in.reconvergence > place;
    const bool goes_round = in.index > place && in.target <= place;
    if (!skips && !falls_in && !goes_round) continue;
    const std::uint32_t begin = goes_round ? in.target : in.index;
    if (branch != kNowhere && begin < innermost) continue;
    innermost = begin;
    branch = in.index;
  }
  return branch;
}

std::uint32_t first_effect(const LoweredKernel& kernel, std::uint32_t index) {
  std::uint32_t at = index;
  ahead_of(kernel, at);
  return at < kernel.code.size() ? at : index;
}

}  // namespace simgpu
