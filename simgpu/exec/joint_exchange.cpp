#include "simgpu/exec/joint_exchange.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "simgpu/exec/lanes.h"
#include "simgpu/exec/thread_block.h"

namespace simgpu {
namespace {

/// Lanes at one instruction.
struct Part {
  const Lowered* in = nullptr;
  std::uint32_t lanes = 0;
};

/// An operand's slot, and what it holds.
struct Slot {
  std::uint32_t Lowered::*offset;
  SlotKind kind;
};

struct Operands {
  std::vector<Slot> sources, results;
};

/// As exec/opcodes/warp.cpp and the `bar.warp.sync` of control.cpp use them.
Operands operands_of(std::string_view spelling) {
  const auto has = [&](std::string_view part) { return spelling.find(part) != spelling.npos; };
  constexpr SlotKind kPredicate = SlotKind::predicate, kWord = SlotKind::word;
  const SlotKind value = has("b64") ? SlotKind::pair : kWord;
  const Slot dst{&Lowered::dst, kWord}, dst2{&Lowered::dst2, kPredicate};
  const Slot a{&Lowered::a, kWord}, b{&Lowered::b, kWord};
  if (has("shfl")) {
    return {{a, b, {&Lowered::c, kWord}, {&Lowered::d, kWord}}, {dst, dst2}};
  }
  if (has("vote")) {
    const SlotKind result = has("ballot") ? kWord : kPredicate;
    return {{{&Lowered::a, kPredicate}, b}, {{&Lowered::dst, result}}};
  }
  if (has("match")) return {{{&Lowered::a, value}, b}, {dst, dst2}};
  if (has("redux")) return {{a, b}, {dst}};
  if (has("elect")) return {{a}, {dst, dst2}};
  return {{a}, {}};
}

/// Copies the lanes' part of a slot at `from` to the one at `to`.
void copy_lanes(SlotKind kind, std::byte* to, const std::byte* from, std::uint32_t lanes) {
  if (kind == SlotKind::predicate) {
    std::uint32_t old = 0, bits = 0;
    std::memcpy(&old, to, sizeof(old));
    std::memcpy(&bits, from, sizeof(bits));
    bits = (old & ~lanes) | (bits & lanes);
    std::memcpy(to, &bits, sizeof(bits));
    return;
  }
  const std::size_t bytes = slot_bytes(kind) / kWarpSize;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(lanes));
    std::memcpy(to + lane * bytes, from + lane * bytes, bytes);
  }
}

/// Results that an instruction does not have are at offset 0: its `option` says whether it does.
bool has_result(const Slot& slot, const Lowered* in, std::string_view spelling) {
  const bool optional = slot.offset == &Lowered::dst2 && spelling.find("elect") == spelling.npos;
  return !optional || in->option != 0;
}

/// The lanes of all parts do the exchange of the first one, with operands and results of their own.
void exchange(Warp& warp, const std::vector<Part>& parts, std::string_view spelling) {
  const std::size_t bytes = warp.block->launch.kernel.register_bytes;
  const std::vector<std::byte> before(warp.regs, warp.regs + bytes);
  const Operands operands = operands_of(spelling);
  const Lowered* const first = parts.front().in;
  warp.mask = 0;
  for (const Part& part : parts) {
    warp.mask |= part.lanes;
    for (const Slot& slot : operands.sources) {
      copy_lanes(slot.kind, warp.regs + first->*slot.offset, before.data() + part.in->*slot.offset,
                 part.lanes);
    }
  }
  (first->guarded != nullptr ? first->guarded : first->run)(first, warp);
  const std::vector<std::byte> after(warp.regs, warp.regs + bytes);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Part& part = parts[i];
    for (const auto* slots : {&operands.sources, &operands.results}) {
      for (const Slot& slot : *slots) {
        if (!has_result(slot, first, spelling)) continue;
        const std::uint32_t at = first->*slot.offset;
        copy_lanes(slot.kind, warp.regs + at, before.data() + at, part.lanes);
      }
    }
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    for (const Slot& slot : operands.results) {
      if (!has_result(slot, parts[i].in, spelling) || !has_result(slot, first, spelling)) continue;
      copy_lanes(slot.kind, warp.regs + parts[i].in->*slot.offset,
                 after.data() + first->*slot.offset, parts[i].lanes);
    }
  }
}

}  // namespace

std::vector<LaneState*> ready_to_exchange(const LoweredKernel& kernel,
                                          const std::vector<LaneState*>& waiting,
                                          std::uint32_t exited) {
  const auto spelling = [&](const LaneState* state) -> const std::string& {
    return kernel.spellings[state->wait.in->index];
  };
  const auto has_all = [&](const LaneState* state, unsigned lane) {
    const std::uint32_t named = state->wait.named[lane];
    std::uint32_t there = exited;
    for (const LaneState* other : waiting) {
      if (spelling(other) != spelling(state)) continue;
      for (unsigned i = 0; i < kWarpSize; ++i) {
        const bool takes_part = (other->wait.lanes >> i & 1U) != 0 && other->wait.named[i] == named;
        there |= static_cast<std::uint32_t>(takes_part) << i;
      }
    }
    return (named & ~there) == 0;
  };
  std::vector<LaneState*> ready;
  for (LaneState* state : waiting) {
    bool all = true;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if ((state->wait.lanes >> lane & 1U) != 0) all = all && has_all(state, lane);
    }
    if (all) ready.push_back(state);
  }
  return ready;
}

void run_joint_exchange(Warp& warp, const std::vector<LaneState*>& groups) {
  const std::vector<std::string>& spellings = warp.block->launch.kernel.spellings;
  std::map<std::string_view, std::vector<Part>> parts;
  for (const LaneState* group : groups) {
    parts[spellings[group->wait.in->index]].push_back({group->wait.in, group->wait.lanes});
  }
  for (const auto& [spelling, same] : parts) exchange(warp, same, spelling);
}

}  // namespace simgpu
