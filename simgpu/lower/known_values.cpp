#include "simgpu/lower/known_values.h"

#include <algorithm>
#include <array>

namespace simgpu {
namespace {

constexpr std::uint32_t kNobody = ~0U;
constexpr std::uint32_t kSeveral = ~0U - 1;

/// By register: the instruction that writes it, or one of the above.
std::vector<std::uint32_t> find_writers(const std::vector<Pending>& code, std::size_t registers) {
  std::vector<std::uint32_t> writers(registers, kNobody);
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const auto note = [&](const Ref& ref) {
      if (ref.kind != Ref::Kind::reg) return;
      writers[ref.index] = writers[ref.index] == kNobody ? i : kSeveral;
    };
    note(code[i].dst);
    note(code[i].dst2);
    for (const Ref& ref : code[i].outs) note(ref);
  }
  return writers;
}

/// Special registers are read by instructions without operands.
bool computes_from_known(const Pending& pending, const std::vector<char>& known) {
  const bool computes = pending.flow == Flow::next && !pending.is_memory &&
                        only_computes(pending.cost.cls) && pending.guard.kind == Ref::Kind::none;
  if (!computes || !pending.ins.empty() || pending.a.kind == Ref::Kind::none) return false;
  const std::array operands{pending.a, pending.b, pending.c, pending.d};
  return std::ranges::all_of(operands, [&](const Ref& ref) {
    return ref.kind != Ref::Kind::reg || known[ref.index] != 0;
  });
}

}  // namespace

std::vector<char> find_known_values(const std::vector<Pending>& code, std::size_t registers) {
  std::vector<char> known(registers, 0);
  const auto is_indexed = [](const Pending& pending) {
    return pending.cost.cls == InstructionClass::constant_load && pending.a.kind == Ref::Kind::reg;
  };
  if (std::ranges::none_of(code, is_indexed)) return known;
  const std::vector<std::uint32_t> writers = find_writers(code, registers);
  // Values stand behind those that they are computed from, but for odd code, of which the loads
  // then count as loads.
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const Ref& result = code[i].dst;
    if (result.kind != Ref::Kind::reg || writers[result.index] != i) continue;
    known[result.index] = computes_from_known(code[i], known) ? 1 : 0;
  }
  return known;
}

}  // namespace simgpu
