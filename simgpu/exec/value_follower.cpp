#include "simgpu/exec/value_follower.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/result_trials.h"
#include "simgpu/exec/thread_block.h"
#include "simgpu/exec/unwritten_registers.h"

namespace simgpu {
namespace {

/// Of an instruction that loads or stores matrices by rows, the lanes whose addresses count.
std::uint32_t addressing_lanes(std::string_view spelling) {
  if (!spelling.starts_with("ldmatrix") && !spelling.starts_with("stmatrix")) return ~0U;
  if (spelling.find(".x4") != spelling.npos) return ~0U;
  return spelling.find(".x2") != spelling.npos ? 0xFFFFU : 0xFFU;
}

/// Where a lane's store goes: in shared and local memory an offset.
std::uint64_t address_of(const Lowered* in, const Warp& warp, InstructionClass cls, unsigned lane) {
  const bool is_wide =
      cls == InstructionClass::global_store || cls == InstructionClass::generic_access;
  const auto offset = static_cast<std::uint64_t>(in->immediate);
  if (is_wide) return slot<std::uint64_t>(warp, in->a)[lane] + offset;
  return static_cast<std::uint32_t>(slot<std::uint32_t>(warp, in->a)[lane] + offset);
}

/// The value that the first of `lanes` has read from a register that nothing had written.
RawFinding unwritten_register(const Lowered* in, const Warp& warp, std::uint64_t block,
                              unsigned lane) {
  RawFinding finding;
  finding.code = "RL0211";
  finding.pc = in->index;
  finding.block = block;
  finding.warp = warp.index;
  finding.lane = static_cast<std::uint8_t>(lane);
  return finding;
}

}  // namespace

bool ValueFollower::concerns(const InstructionInfo& info) const {
  const auto undefined = [&](std::uint32_t reg) { return values_.lanes(reg) != 0; };
  return std::ranges::any_of(info.reads, undefined) || std::ranges::any_of(info.writes, undefined);
}

/// Where an undefined value comes from, once something else is done with it than moving it.
std::uint16_t ValueFollower::known_origin(const Lowered* in, const Warp& warp, std::uint32_t reg,
                                          unsigned lane, bool moves) {
  const std::uint16_t origin = values_.origin(reg, lane);
  if (moves || origin != UndefinedValues::kUnwritten) return origin;
  return values_.origin_of(unwritten_register(in, warp, block_, lane));
}

void ValueFollower::use(const Lowered* in, const Warp& warp, std::uint32_t reg,
                        std::uint32_t lanes) {
  lanes &= values_.lanes(reg);
  if (lanes == 0) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  checkers_.add(values_.finding(known_origin(in, warp, reg, lane, false)));
}

void ValueFollower::use_all(const Lowered* in, const Warp& warp, std::uint32_t lanes) {
  const InstructionInfo& info = kernel_.info.instructions[in->index];
  for (const std::uint32_t reg : info.reads) {
    if (reg != info.guard) use(in, warp, reg, lanes);
  }
}

void ValueFollower::define_results(const InstructionInfo& info, std::uint32_t lanes) {
  for (const std::uint32_t reg : info.writes) values_.define(reg, lanes);
}

void ValueFollower::compute(const Lowered* in, Warp& warp, std::uint32_t lanes) {
  const InstructionInfo& info = kernel_.info.instructions[in->index];
  std::vector<std::uint32_t> operands;
  for (const std::uint32_t reg : info.reads) {
    const bool is_undefined = (values_.lanes(reg) & lanes) != 0 ||
                              (values_.lanes(reg) != 0 && info.cls == InstructionClass::tensor);
    if (is_undefined && !std::ranges::count(operands, reg)) operands.push_back(reg);
  }
  if (operands.empty()) return define_results(info, lanes);
  warp.block->budget.spend(ResultTrials::kWork, warp, in);
  const std::vector<LaneBits> results =
      ResultTrials(kernel_, values_).run(in, warp, lanes, operands);
  const bool moves = moves_bits(info, kernel_.spellings[in->index]);
  std::array<std::uint16_t, kWarpSize> origins{};
  each_lane(lanes, [&](unsigned lane) {
    const auto from = std::ranges::find_if(
        operands, [&](std::uint32_t reg) { return (values_.lanes(reg) >> lane & 1U) != 0; });
    // Of a matrix, the values of other lanes.
    const std::uint32_t reg = from != operands.end() ? *from : operands.front();
    const unsigned source =
        from != operands.end() ? lane : static_cast<unsigned>(std::countr_zero(values_.lanes(reg)));
    const bool matters =
        std::ranges::any_of(results, [&](const LaneBits& bits) { return bits[lane] != 0; });
    if (matters) origins[lane] = known_origin(in, warp, reg, source, moves);
  });
  for (std::size_t i = 0; i < results.size(); ++i) {
    each_lane(lanes, [&](unsigned lane) {
      values_.set_lane(info.writes[i], lane, results[i][lane], origins[lane]);
    });
  }
}

void ValueFollower::shuffle(const Lowered* in, Warp& warp, std::uint32_t lanes) {
  const InstructionInfo& info = kernel_.info.instructions[in->index];
  for (const std::size_t operand : {1U, 2U, 3U}) use(in, warp, info.operands[operand], lanes);
  const std::uint32_t value = info.operands[0];
  const std::uint32_t undefined = values_.lanes(value);
  const LaneBits bits = undefined != 0 ? values_.bits(value) : LaneBits{};
  std::array<std::uint16_t, kWarpSize> origins{};
  each_lane(undefined, [&](unsigned lane) { origins[lane] = values_.origin(value, lane); });
  define_results(info, lanes);
  const auto from = sources_of_shuffle(in, warp, kernel_.spellings[in->index]);
  each_lane(lanes, [&](unsigned lane) {
    const std::uint32_t source = from[lane];
    values_.set_lane(info.writes.front(), lane, bits[source], origins[source]);
  });
}

/// A ballot has a bit for each lane.
void ValueFollower::ballot(const InstructionInfo& info, std::uint32_t lanes) {
  const std::uint32_t value = info.operands[0];
  const std::uint32_t undefined = values_.lanes(value) & lanes;
  std::uint16_t origin = 0;
  if (undefined != 0) {
    origin = values_.origin(value, static_cast<unsigned>(std::countr_zero(undefined)));
  }
  values_.set(info.writes.front(), lanes, undefined, origin);
}

/// A lane whose vote is known may decide.
void ValueFollower::vote(const Lowered* in, const Warp& warp, std::uint32_t lanes) {
  const InstructionInfo& info = kernel_.info.instructions[in->index];
  const std::string_view spelling = kernel_.spellings[in->index];
  const std::uint32_t value = info.operands[0];
  const std::uint32_t votes = predicate(warp, in->a);
  const std::uint32_t undefined = values_.lanes(value) & lanes;
  const std::uint32_t yes = votes & lanes & ~undefined, no = ~votes & lanes & ~undefined;
  const bool is_decided = spelling.find(".any") != spelling.npos   ? yes != 0
                          : spelling.find(".all") != spelling.npos ? no != 0
                                                                   : yes != 0 && no != 0;
  if (undefined == 0 || is_decided) return define_results(info, lanes);
  const auto lane = static_cast<unsigned>(std::countr_zero(undefined));
  values_.set(info.writes.front(), lanes, 1, known_origin(in, warp, value, lane, false));
}

void ValueFollower::exchange(const Lowered* in, Warp& warp, std::uint32_t lanes) {
  const InstructionInfo& info = kernel_.info.instructions[in->index];
  const std::string_view spelling = kernel_.spellings[in->index];
  if (info.writes.empty()) return use_all(in, warp, lanes);
  if (spelling.starts_with("shfl")) return shuffle(in, warp, lanes);
  if (spelling.starts_with("vote")) {
    use(in, warp, info.operands[1], lanes);
    if (spelling.find("ballot") != spelling.npos) return ballot(info, lanes);
    return vote(in, warp, lanes);
  }
  std::uint16_t origin = 0;
  bool is_undefined = false;
  for (const std::uint32_t reg : info.reads) {
    const std::uint32_t undefined = values_.lanes(reg) & lanes;
    if (undefined == 0 || reg == info.guard || is_undefined) continue;
    is_undefined = true;
    origin = known_origin(in, warp, reg, static_cast<unsigned>(std::countr_zero(undefined)), false);
  }
  for (const std::uint32_t reg : info.writes) {
    values_.set(reg, lanes, is_undefined ? all_bits(kernel_.registers[reg].slot) : 0, origin);
  }
}

/// What has been computed from an undefined value is a finding. What was only moved is one in
/// global memory, unless it is part of something larger: a struct may have members that nobody has
/// given a value. Elsewhere, and there, it leaves memory as good as unwritten.
std::vector<UnwrittenStore> ValueFollower::store(const Lowered* in, const Warp& warp,
                                                 std::uint32_t lanes) {
  const InstructionInfo& info = kernel_.info.instructions[in->index];
  use(in, warp, info.operands[0], lanes);
  std::vector<UnwrittenStore> unwritten;
  const bool is_global =
      info.cls == InstructionClass::global_store || info.cls == InstructionClass::generic_access;
  const std::vector<StoredValue> stored = stored_values(kernel_, *in, warp);
  for (const StoredValue& value : stored) {
    if (value.reg == StoredValue::kLiteral) continue;
    std::uint32_t used = 0;
    each_lane(values_.lanes(value.reg) & lanes, [&](unsigned lane) {
      if ((values_.bits(value.reg)[lane] & value.bits()) == 0) return;
      const bool is_copied =
          values_.origin(value.reg, lane) == UndefinedValues::kUnwritten &&
          (!is_global || copies_a_part(kernel_, in->index, values_, stored, value, lane));
      if (is_copied) {
        unwritten.push_back(
            {info.cls, lane, address_of(in, warp, info.cls, lane) + value.offset, value.bytes});
      } else {
        used |= 1U << lane;
      }
    });
    use(in, warp, value.reg, used);
  }
  return unwritten;
}

std::vector<UnwrittenStore> ValueFollower::look_at(const Lowered* in, Warp& warp) {
  const InstructionInfo& info = kernel_.info.instructions[in->index];
  if (info.cls == InstructionClass::control && warp.calls.empty()) {
    forget_dead_registers(kernel_, in->index, values_, warp.active);
  }
  if (!concerns(info)) return {};
  if (in->guarded != nullptr) use(in, warp, info.guard, warp.active);
  const std::uint32_t lanes = executing_lanes(*in, warp);
  if (info.only_stores) return store(in, warp, lanes);
  if (info.cls == InstructionClass::warp_exchange) {
    exchange(in, warp, lanes);
  } else if (only_computes(info)) {
    compute(in, warp, lanes);
  } else {
    use_all(in, warp, lanes & addressing_lanes(kernel_.spellings[in->index]));
    define_results(info, lanes);
  }
  return {};
}

}  // namespace simgpu
