#include "simgpu/provenance/instruction_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "simgpu/exec/matrix_tile.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/opcodes/tensor.h"
#include "simgpu/exec/result_trials.h"

namespace simgpu {
namespace {

constexpr std::uint32_t kNoRegister = InstructionInfo::kNoRegister;

bool has(std::string_view spelling, std::string_view part) {
  return spelling.find(part) != spelling.npos;
}

/// An instruction under the view of one that looks for its rule.
struct Seen {
  const LoweredKernel& kernel;
  const Lowered& in;
  const InstructionInfo& info;
  std::string_view spelling;
  bool hidden;

  bool starts(std::string_view text) const { return spelling.starts_with(text); }
  bool contains(std::string_view part) const { return has(spelling, part); }
  Handler handler() const { return in.guarded != nullptr ? in.guarded : in.run; }
  bool is_predicate(std::uint32_t reg) const {
    return kernel.registers[reg].slot.bytes == slot_bytes(SlotKind::predicate);
  }
  bool is_word(std::uint32_t reg) const {
    return kernel.registers[reg].slot.bytes == slot_bytes(SlotKind::word);
  }
  /// Registers that it reads, but for its guard.
  std::vector<std::uint32_t> read() const {
    std::vector<std::uint32_t> regs;
    for (const std::uint32_t reg : info.reads) {
      if (reg != info.guard && !std::ranges::count(regs, reg)) regs.push_back(reg);
    }
    return regs;
  }
  bool any_predicate() const {
    const auto is = [&](std::uint32_t reg) { return is_predicate(reg); };
    return std::ranges::any_of(read(), is) || std::ranges::any_of(info.writes, is);
  }
};

/// Of `count` slots in the instruction's list, from its `first` one on, the registers.
std::vector<std::uint32_t> in_list(const Seen& seen, const std::vector<std::uint32_t>& among,
                                   unsigned first, unsigned count) {
  std::vector<std::uint32_t> regs(count, kNoRegister);
  for (unsigned i = 0; i < count; ++i) {
    const std::uint32_t slot = seen.kernel.lists[seen.in.list + first + i];
    const auto found = std::ranges::find_if(
        among, [&](std::uint32_t reg) { return seen.kernel.registers[reg].slot.offset == slot; });
    if (found != among.end()) regs[i] = *found;
  }
  return regs;
}

OriginSpace space_of(const Seen& seen) {
  switch (seen.info.cls) {
    case InstructionClass::shared_load:
    case InstructionClass::shared_store:
    case InstructionClass::shared_atomic:
      return OriginSpace::shared;
    case InstructionClass::local_load:
    case InstructionClass::local_store:
      return OriginSpace::local;
    case InstructionClass::move:
      return OriginSpace::frame;
    case InstructionClass::constant_load:
      return seen.starts("ld.param") ? OriginSpace::parameter : OriginSpace::global;
    case InstructionClass::generic_access:
      return OriginSpace::generic;
    default:
      // Of atomics with generic addresses the class does not tell.
      return seen.contains(".global") ? OriginSpace::global : OriginSpace::generic;
  }
}

InstructionOrigins of_plain_access(const Seen& seen) {
  InstructionOrigins made;
  const bool loads = !seen.info.only_stores;
  made.rule = loads ? OriginRule::loaded : OriginRule::stored;
  made.space = space_of(seen);
  const bool is_vector = seen.info.cls != InstructionClass::move || !seen.hidden;
  if (is_vector && seen.contains(".v2")) made.count = 2;
  if (is_vector && seen.contains(".v4")) made.count = 4;
  made.bytes = seen.info.access_bytes / made.count;
  const std::vector<std::uint32_t> read = seen.read();
  if (made.count > 1) {
    (loads ? made.results : made.operands) =
        in_list(seen, loads ? seen.info.writes : read, 0, made.count);
  } else if (loads) {
    made.results = seen.info.writes;
  } else {
    made.operands = {seen.info.operands[1]};
  }
  return made;
}

InstructionOrigins of_tile_access(const Seen& seen) {
  InstructionOrigins made;
  const bool loads = seen.contains(".load");
  const MatrixTile tile = MatrixTile::decode(seen.in.option);
  const unsigned pads = tile.is_input() && tile.type == TileType::f16 ? 8 : tile.registers();
  made.rule = loads ? OriginRule::tile_loaded : OriginRule::tile_stored;
  (loads ? made.results : made.operands) =
      in_list(seen, loads ? seen.info.writes : seen.read(), 0, pads);
  return made;
}

InstructionOrigins of_matrix_access(const Seen& seen) {
  InstructionOrigins made;
  const bool loads = seen.starts("ldmatrix");
  made.count = seen.contains(".x4") ? 4 : seen.contains(".x2") ? 2 : 1;
  made.rule = loads ? OriginRule::matrices_loaded : OriginRule::matrices_stored;
  made.space = seen.info.cls == InstructionClass::shared_load ||
                       seen.info.cls == InstructionClass::shared_store
                   ? (seen.contains(".shared") ? OriginSpace::shared : OriginSpace::generic)
                   : OriginSpace::generic;
  (loads ? made.results : made.operands) =
      in_list(seen, loads ? seen.info.writes : seen.read(), 0, made.count);
  return made;
}

InstructionOrigins of_memory(const Seen& seen) {
  if (seen.starts("mbarrier")) return {.rule = OriginRule::cleared, .results = seen.info.writes};
  if (seen.starts("wmma")) return of_tile_access(seen);
  if (seen.starts("ldmatrix") || seen.starts("stmatrix")) return of_matrix_access(seen);
  if (seen.starts("atom") || seen.starts("red")) {
    return {.rule = OriginRule::atomic,
            .space = space_of(seen),
            .bytes = seen.info.access_bytes,
            .results = seen.info.writes,
            .operands = {seen.info.operands[1], seen.info.operands[2]}};
  }
  const bool is_plain = seen.starts("ld.") || seen.starts("ldu") || seen.starts("st.") ||
                        seen.info.cls == InstructionClass::move;
  if (is_plain) return of_plain_access(seen);
  const bool only_loads = seen.starts("tex") || seen.starts("suld") || seen.starts("tld4");
  return {.rule = only_loads ? OriginRule::unknown : OriginRule::lost, .results = seen.info.writes};
}

InstructionOrigins of_asynchronous(const Seen& seen) {
  if (seen.contains(".mbarrier.arrive")) return {.rule = OriginRule::copies_arriving};
  switch (seen.info.async_step) {
    case AsyncStep::copy:
      return {.rule = OriginRule::copied_later, .bytes = seen.info.access_bytes};
    case AsyncStep::commit:
      return {.rule = OriginRule::copies_closed};
    case AsyncStep::wait:
    case AsyncStep::wait_all:
      return {.rule = OriginRule::copies_awaited};
    default:
      return {.rule = seen.contains(".bulk") && seen.info.access_bytes > 0
                          ? OriginRule::copied_in_bulk
                          : OriginRule::lost};
  }
}

InstructionOrigins of_exchange(const Seen& seen) {
  InstructionOrigins made{.results = seen.info.writes, .operands = {seen.info.operands[0]}};
  if (seen.starts("shfl")) {
    made.rule = OriginRule::shuffled;
  } else if (seen.starts("movmatrix")) {
    made.rule = OriginRule::transposed;
  } else if (seen.starts("vote") || seen.starts("match") || seen.starts("redux")) {
    made.rule = OriginRule::of_lanes;
  } else if (seen.starts("activemask") || seen.starts("elect")) {
    made.rule = OriginRule::cleared;
  } else {
    made.rule = OriginRule::unknown;
  }
  return made;
}

InstructionOrigins of_product(const Seen& seen) {
  const TensorProduct product = TensorProduct::decode(seen.in.immediate);
  InstructionOrigins made{.rule = OriginRule::multiplied};
  const unsigned results = product.fragment_d().registers();
  const unsigned operands = product.input_registers(product.fragment_a()) +
                            product.input_registers(product.fragment_b()) +
                            product.fragment_c().registers();
  made.results = in_list(seen, seen.info.writes, 0, results);
  made.operands = in_list(seen, seen.read(), results, operands);
  return made;
}

/// Those of two halves of 16 bits, each of which is computed by itself.
bool computes_halves(const Seen& seen) {
  const bool is_packed = seen.spelling.ends_with("f16x2");
  const auto is_word = [&](std::uint32_t reg) { return seen.is_word(reg); };
  return is_packed && !seen.starts("cvt") && !seen.hidden && seen.info.writes.size() == 1 &&
         std::ranges::all_of(seen.read(), is_word) && is_word(seen.info.writes[0]);
}

bool packs_halves(const Seen& seen) {
  return seen.starts("cvt") && seen.spelling.ends_with("f16x2.f32") &&
         seen.info.writes.size() == 1 && !seen.hidden;
}

InstructionOrigins of_computation(const Seen& seen) {
  InstructionOrigins made{.results = seen.info.writes, .operands = seen.read()};
  const bool touches_stack = seen.starts("alloca") || seen.starts("stack");
  if (made.operands.empty() || touches_stack || seen.starts("isspacep")) {
    made.rule = OriginRule::cleared;
  } else if (seen.starts("selp") && !seen.is_predicate(made.results[0])) {
    made.rule = OriginRule::chosen;
    made.operands = {seen.info.operands[0], seen.info.operands[1]};
  } else if (computes_halves(seen)) {
    made.rule = OriginRule::halves;
  } else if (packs_halves(seen)) {
    made.rule = OriginRule::packed;
    made.operands = {seen.info.operands[0], seen.info.operands[1]};
  } else {
    const bool moves = seen.hidden || seen.starts("lop3") || moves_bits(seen.info, seen.spelling);
    const bool is_small =
        made.results.size() == 1 && made.operands.size() <= ByteMoves::kMostOperands;
    made.rule = moves && is_small && !seen.any_predicate() ? OriginRule::moved : OriginRule::whole;
  }
  return made;
}

}  // namespace

InstructionOrigins origins_of_instruction(const LoweredKernel& kernel, std::uint32_t index) {
  const Lowered& in = kernel.code[index];
  const InstructionInfo& info = kernel.info.instructions[index];
  const Seen seen{kernel, in, info, kernel.spellings[index], kernel.hidden[index] != 0};
  if (seen.handler() == hidden::kCall) return {.rule = OriginRule::called};
  if (seen.handler() == hidden::kLeave) return {.rule = OriginRule::left};
  // Hidden ones compute addresses.
  if (seen.starts("cp.async") && !seen.hidden) return of_asynchronous(seen);
  if (info.access_bytes > 0) return of_memory(seen);
  if (info.writes.empty()) return {};
  if (seen.starts("bar")) return {.rule = OriginRule::unknown, .results = info.writes};
  if (seen.starts("mbarrier")) return {.rule = OriginRule::cleared, .results = info.writes};
  if (info.cls == InstructionClass::tensor) return of_product(seen);
  if (info.cls == InstructionClass::warp_exchange && !seen.hidden) return of_exchange(seen);
  const bool computes = seen.hidden || only_computes(info);
  if (computes) return of_computation(seen);
  return {.rule = OriginRule::unknown, .results = info.writes};
}

}  // namespace simgpu
