#include "simgpu/exec/undefined_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu {

void UndefinedValues::clear() {
  registers_.clear();
  origins_.clear();
  registers_in_use_ = 0;
}

UndefinedValues::Register& UndefinedValues::at(std::uint32_t reg) {
  if (reg >= registers_.size()) registers_.resize(reg + 1);
  return registers_[reg];
}

void UndefinedValues::add(std::uint32_t reg, std::uint32_t lanes, const RawFinding& finding) {
  if (lanes == 0) return;
  // A loop comes to the same instruction again and again.
  const auto known = std::ranges::find_if(origins_, [&](const RawFinding& other) {
    return other.pc == finding.pc && other.code == finding.code;
  });
  const auto origin = static_cast<std::uint32_t>(known - origins_.begin());
  if (known == origins_.end()) origins_.push_back(finding);
  set(reg, lanes, lanes, origin);
}

void UndefinedValues::set(std::uint32_t reg, std::uint32_t lanes, std::uint32_t undefined,
                          std::uint32_t origin) {
  if (undefined == 0 && this->lanes(reg) == 0) return;
  Register& to = at(reg);
  const bool was_in_use = to.lanes != 0;
  to.lanes = (to.lanes & ~lanes) | (undefined & lanes);
  if ((undefined & lanes) != 0) to.origin = origin;
  registers_in_use_ += static_cast<std::size_t>(to.lanes != 0);
  registers_in_use_ -= static_cast<std::size_t>(was_in_use);
}

namespace {

/// Undefined lanes of a value, and where they come from.
struct Undefined {
  std::uint32_t lanes = 0;
  std::uint32_t origin = 0;

  void add(const UndefinedValues& values, std::uint32_t reg, std::uint32_t mask = ~0U) {
    const std::uint32_t more = values.lanes(reg) & mask;
    if (more == 0) return;
    if (lanes == 0) origin = values.origin(reg);
    lanes |= more;
  }
};

/// Whether what an instruction reads is used for good: it leaves the thread's registers, or says
/// where the program goes on.
bool uses_for_good(const InstructionInfo& info) {
  switch (info.cls) {
    case InstructionClass::control:
    case InstructionClass::barrier:
    case InstructionClass::tensor:
    case InstructionClass::global_load:  // the address
    case InstructionClass::shared_load:
    case InstructionClass::local_load:
    case InstructionClass::constant_load:
    case InstructionClass::global_store:
    case InstructionClass::global_atomic:
    case InstructionClass::shared_store:
    case InstructionClass::shared_atomic:
    case InstructionClass::local_store:
    case InstructionClass::async_copy:
    case InstructionClass::generic_access:
      return true;
    default:
      return info.writes.empty();
  }
}

/// Of the lanes of a result, those that depend on undefined operands.
Undefined result_of(const Lowered* in, Warp& warp, const InstructionInfo& info,
                    std::string_view spelling, const UndefinedValues& values) {
  Undefined result;
  const auto [a, b, c, d] = info.operands;
  if (spelling.starts_with("selp")) {
    const std::uint32_t chosen = predicate(warp, in->c);
    result.add(values, a, chosen);
    result.add(values, b, ~chosen);
    result.add(values, c);
    return result;
  }
  if (spelling == "and.pred" || spelling == "or.pred") {
    // One operand may decide alone.
    const std::uint32_t flip = spelling == "or.pred" ? ~0U : 0U;
    const std::uint32_t a_leaves_open = values.lanes(a) | (predicate(warp, in->a) ^ flip);
    const std::uint32_t b_leaves_open = values.lanes(b) | (predicate(warp, in->b) ^ flip);
    result.add(values, a, b_leaves_open);
    result.add(values, b, a_leaves_open);
    return result;
  }
  for (const std::uint32_t reg : info.reads) result.add(values, reg);
  return result;
}

}  // namespace

/// A load or a shuffle has given `lanes` values that are undefined as `finding` says. The turn
/// ends, since from now on each of the warp's instructions is looked at first.
const Lowered* BlockRunner::follow_undefined(const Lowered* in, Warp& warp, std::uint32_t lanes,
                                             const RawFinding& finding) {
  UndefinedValues& values = undefined_[warp.index];
  for (const std::uint32_t reg : launch_.kernel.info.instructions[in->index].writes) {
    values.add(reg, lanes, finding);
  }
  if (warp.follows) return in + 1;
  warp.follows = true;
  warp.resume = in + 1;
  return nullptr;
}

const Lowered* BlockRunner::note_unwritten(const Lowered* in, Warp& warp) {
  const Lowered* next = in + 1;
  for (const BlockCheckers::Unwritten& unwritten : checkers_->take_unwritten()) {
    next = follow_undefined(in, warp, unwritten.lanes, unwritten.finding);
  }
  return next;
}

/// Follows undefined values through the instruction that comes next.
void BlockRunner::look_at(const Lowered* in, Warp& warp) {
  UndefinedValues& values = undefined_[warp.index];
  const InstructionInfo& info = launch_.kernel.info.instructions[in->index];
  const std::string& spelling = launch_.kernel.spellings[in->index];
  std::uint32_t lanes = warp.active;
  Undefined guard;
  if (in->guarded != nullptr) {
    guard.add(values, info.guard, lanes);
    lanes &= predicate(warp, in->guard) ^ in->guard_flip;
  }
  Undefined result = result_of(in, warp, info, spelling, values);
  if (info.cls == InstructionClass::warp_exchange) {
    if (spelling.starts_with("shfl")) {
      const auto from = sources_of_shuffle(in, warp, spelling);
      std::uint32_t moved = 0;
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        moved |= (result.lanes >> from[lane] & 1U) << lane;
      }
      result.lanes = moved;
    } else if ((result.lanes & lanes) != 0) {
      result.lanes = lanes;
    }
  }
  result.lanes &= lanes;
  const auto use = [&](const Undefined& undefined) {
    if (undefined.lanes != 0) checkers_->add(values.finding(undefined.origin));
  };
  use(guard);
  if (uses_for_good(info)) {
    use(result);
    result.lanes = 0;
  }
  for (const std::uint32_t reg : info.writes) values.set(reg, lanes, result.lanes, result.origin);
  warp.follows = values.any();
}

}  // namespace simgpu
