#include "simgpu/lower/speculated_loads.h"

#include <algorithm>

namespace simgpu {
namespace {

template <class Call>
void for_each_read(const Pending& pending, const Call& call) {
  for (const Ref* ref : {&pending.a, &pending.b, &pending.c, &pending.d, &pending.guard}) {
    if (ref->kind == Ref::Kind::reg) call(ref->index);
  }
  for (const Ref& ref : pending.ins) {
    if (ref.kind == Ref::Kind::reg) call(ref.index);
  }
}

bool is(const Ref& ref, std::uint32_t reg) {
  return ref.kind == Ref::Kind::reg && ref.index == reg;
}

bool writes(const Pending& pending, std::uint32_t reg) {
  return is(pending.dst, reg) || is(pending.dst2, reg) ||
         std::ranges::any_of(pending.outs, [&](const Ref& ref) { return is(ref, reg); });
}

bool is_local_load(const Pending& pending) {
  return pending.cost.cls == InstructionClass::local_load && pending.outs.empty() &&
         pending.dst.kind == Ref::Kind::reg && pending.guard.kind == Ref::Kind::none;
}

bool is_selection(const Pending& pending) {
  return pending.spelling.starts_with("selp") && pending.guard.kind == Ref::Kind::none &&
         pending.c.kind == Ref::Kind::reg;
}

}  // namespace

std::vector<SpeculatedLoad> find_speculated_loads(const std::vector<Pending>& code,
                                                  const std::vector<std::uint32_t>& first,
                                                  std::size_t registers) {
  std::vector<SpeculatedLoad> found;
  if (std::ranges::none_of(code, is_local_load)) return found;
  std::vector<std::uint32_t> reads(registers, 0);
  for (const Pending& pending : code) {
    for_each_read(pending, [&](std::uint32_t reg) { ++reads[reg]; });
  }
  for (std::size_t block = 0; block + 1 < first.size(); ++block) {
    for (std::uint32_t load = first[block]; load < first[block + 1]; ++load) {
      if (!is_local_load(code[load]) || reads[code[load].dst.index] != 1) continue;
      const std::uint32_t value = code[load].dst.index;
      const auto end = code.begin() + first[block + 1];
      const auto use = std::find_if(code.begin() + load + 1, end, [&](const Pending& pending) {
        return is_selection(pending) && (is(pending.a, value) || is(pending.b, value));
      });
      if (use == end) continue;
      const std::uint32_t predicate = use->c.index;
      if (std::any_of(code.begin() + load, use,
                      [&](const Pending& between) { return writes(between, predicate); })) {
        continue;
      }
      found.push_back({load, use->c, is(use->b, value)});
    }
  }
  return found;
}

}  // namespace simgpu
