#include "simgpu/lower/guesses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "simgpu/isa/instruction_set.h"

namespace simgpu {
namespace {

bool is(const Pending& pending, std::string_view opcode) {
  return !pending.hidden && pending.spelling.starts_with(opcode);
}
bool is_atomic_opcode(const Pending& pending) {
  return is(pending, "atom.") || is(pending, "red.");
}
bool is_swap(const Pending& pending) {
  return is(pending, "atom.") && pending.spelling.find(".cas.") != std::string::npos;
}
bool is_plain_load(const Pending& pending) {
  const InstructionClass cls = pending.cost.cls;
  return is(pending, "ld.") && pending.option == 0 &&
         (cls == InstructionClass::global_load || cls == InstructionClass::shared_load ||
          cls == InstructionClass::generic_access);
}
/// Both compute the same of the same registers.
bool is_same(const Pending& one, const Pending& other) {
  const auto equal = [](const Ref& a, const Ref& b) {
    return a.kind == b.kind && a.index == b.index;
  };
  return one.handler == other.handler && one.immediate == other.immediate &&
         one.option == other.option && equal(one.a, other.a) && equal(one.b, other.b) &&
         equal(one.c, other.c) && one.ins.empty() && other.ins.empty() && !one.is_memory;
}
/// Of integers, to another width perhaps.
bool is_copy(const Pending& pending, const Primitives& primitives) {
  const bool hidden = pending.hidden && (pending.handler == primitives.widen ||
                                         pending.handler == primitives.saturate);
  const bool converts = is(pending, "cvt.") && pending.spelling.find('f') == std::string::npos &&
                        pending.spelling.find("sat") == std::string::npos;
  const bool copies = hidden || converts || is(pending, "mov.") || is(pending, "cvta.");
  return copies && pending.b.kind == Ref::Kind::none && pending.ins.empty();
}

template <class Visit>
void for_each_result(const Pending& pending, const Visit& visit) {
  const auto take = [&](const Ref& ref) {
    if (ref.kind == Ref::Kind::reg) visit(ref.index);
  };
  take(pending.dst);
  take(pending.dst2);
  for (const Ref& ref : pending.outs) take(ref);
}

class GuessFinder {
 public:
  GuessFinder(const std::vector<Pending>& code, std::size_t registers,
              const std::vector<LoweredKernel::Constant>& constants, const ControlFlow& flow,
              const std::vector<std::uint32_t>& block_of,
              const std::vector<std::uint32_t>& post_dominators, const Primitives& primitives)
      : code_(code),
        constants_(constants),
        flow_(flow),
        block_of_(block_of),
        post_dominators_(post_dominators),
        primitives_(primitives),
        definition_(registers, kNever) {
    for (std::uint32_t i = 0; i < code.size(); ++i) {
      for_each_result(code[i], [&](std::uint32_t reg) {
        const std::uint32_t known = definition_[reg];
        if (known == kNever) {
          definition_[reg] = i;
        } else if (known != kSeveral && !is_same(code[known], code[i])) {
          definition_[reg] = kSeveral;
        }
      });
    }
    for (std::uint32_t i = 0; i < code.size(); ++i) {
      if (is_atomic_opcode(code[i])) atomics_.push_back({i, place_of(code[i])});
    }
  }

  bool is_guess(const Pending& load) const {
    const Place place = place_of(load);
    std::vector<std::uint32_t> there;
    for (const Atomic& atomic : atomics_) {
      if (atomic.place == place) there.push_back(atomic.index);
    }
    if (there.empty()) return false;
    return is_expected_by(load, there) || only_decides_about(load, there);
  }

 private:
  static constexpr std::uint32_t kNever = ~0U, kSeveral = ~0U - 1;

  /// An address, as a sum of registers that cannot be followed further back, each times a number,
  /// and of a literal.
  struct Place {
    std::map<std::uint32_t, std::int64_t> registers;
    std::int64_t offset = 0;
    bool operator==(const Place&) const = default;

    void add(const Place& other, std::int64_t times) {
      offset += times * other.offset;
      for (const auto& [reg, scale] : other.registers) {
        const auto term = registers.try_emplace(reg, 0).first;
        term->second += times * scale;
        if (term->second == 0) registers.erase(term);
      }
    }
  };
  struct Atomic {
    std::uint32_t index = 0;
    Place place;
  };
  using Registers = std::vector<char>;  // by register

  std::optional<std::int64_t> literal(const Ref& ref) const {
    if (ref.kind != Ref::Kind::constant) return std::nullopt;
    const LoweredKernel::Constant& constant = constants_[ref.index];
    return constant.bytes == 4 ? static_cast<std::int32_t>(constant.bits)
                               : static_cast<std::int64_t>(constant.bits);
  }

  Place place_of(const Pending& access) const {
    Place place = sum_of(access.a, 0);
    place.offset += access.immediate;
    return place;
  }

  /// That sums of 32 bits wrap and those of 64 do not is not looked at: two addresses that nvcc
  /// computes differently are taken for one place, and nothing is reported.
  Place sum_of(const Ref& ref, int depth) const {
    constexpr int kDeepest = 12;
    Place place;
    if (const auto number = literal(ref)) {
      place.offset = *number;
      // An array at the beginning of shared memory is no literal 0.
      if (const std::uint32_t array = constants_[ref.index].array; array != 0) {
        place.registers[~array] = 1;
      }
      return place;
    }
    const std::uint32_t index = ref.kind == Ref::Kind::reg ? definition_[ref.index] : kNever;
    if (index < code_.size() && depth < kDeepest && code_[index].guard.kind == Ref::Kind::none) {
      if (const auto sum = sum_by(code_[index], depth + 1)) return *sum;
    }
    place.registers[ref.index] = 1;
    return place;
  }

  std::optional<Place> sum_by(const Pending& from, int depth) const {
    Place sum;
    const auto add = [&](const Ref& ref, std::int64_t times) {
      sum.add(sum_of(ref, depth), times);
    };
    const bool multiplies = is(from, "mul.lo.") || is(from, "mul.wide.") || is(from, "mad.lo.") ||
                            is(from, "mad.wide.");
    if (is_copy(from, primitives_)) {
      add(from.a, 1);
      sum.offset += from.immediate;
    } else if (is(from, "add.")) {
      add(from.a, 1);
      add(from.b, 1);
    } else if (is(from, "sub.")) {
      add(from.a, 1);
      add(from.b, -1);
    } else if (const auto by = literal(from.b); is(from, "shl.b") && by && *by >= 0 && *by < 32) {
      add(from.a, std::int64_t{1} << *by);
    } else if (multiplies && by) {
      add(from.a, *by);
      if (is(from, "mad.")) add(from.c, 1);
    } else {
      return std::nullopt;
    }
    return sum;
  }

  static bool has(const Registers& set, const Ref& ref) {
    return ref.kind == Ref::Kind::reg && set[ref.index] != 0;
  }
  static bool reads(const Pending& pending, const Registers& set) {
    for (const Ref* ref : {&pending.a, &pending.b, &pending.c, &pending.d}) {
      if (has(set, *ref)) return true;
    }
    return std::ranges::any_of(pending.ins, [&](const Ref& ref) { return has(set, ref); });
  }

  /// The registers that hold what `load` has loaded, or with `computed` what is computed from it.
  Registers reached_from(const Pending& load, bool computed) const {
    Registers reached(definition_.size(), 0);
    for_each_result(load, [&](std::uint32_t reg) { reached[reg] = 1; });
    for (bool changed = true; changed;) {
      changed = false;
      for (const Pending& pending : code_) {
        const bool follows = computed ? computes(pending) : is_copy(pending, primitives_);
        if (!follows || !reads(pending, reached)) continue;
        for_each_result(pending, [&](std::uint32_t reg) {
          changed = changed || reached[reg] == 0;
          reached[reg] = 1;
        });
      }
    }
    return reached;
  }

  static bool computes(const Pending& pending) {
    return pending.flow == Flow::next && !pending.is_memory && only_computes(pending.cost.cls);
  }

  bool is_expected_by(const Pending& load, const std::vector<std::uint32_t>& there) const {
    const Registers copies = reached_from(load, false);
    return std::ranges::any_of(there, [&](std::uint32_t index) {
      return is_swap(code_[index]) && has(copies, code_[index].b);
    });
  }

  bool only_decides_about(const Pending& load, const std::vector<std::uint32_t>& there) const {
    const Registers computed = reached_from(load, true);
    bool decides = false;
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      const Pending& pending = code_[i];
      if (!computes(pending) && reads(pending, computed)) return false;
      if (!has(computed, pending.guard)) continue;
      const bool guards_atomic = std::ranges::find(there, i) != there.end();
      const bool branches = pending.flow == Flow::branch || pending.flow == Flow::exit;
      decides = decides || guards_atomic || (branches && leads_around(block_of_[i], there));
    }
    return decides;
  }

  /// Whether one of the atomics lies between a branch and the place where its sides meet.
  bool leads_around(std::uint32_t branch, const std::vector<std::uint32_t>& there) const {
    std::vector<char> seen(flow_.blocks() + 1, 0);
    seen[post_dominators_[branch]] = 1;
    std::vector<std::uint32_t> open = flow_.successors[branch];
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      if (std::exchange(seen[block], 1) != 0 || block == flow_.blocks()) continue;
      const auto is_here = [&](std::uint32_t index) { return block_of_[index] == block; };
      if (std::ranges::any_of(there, is_here)) return true;
      open.insert(open.end(), flow_.successors[block].begin(), flow_.successors[block].end());
    }
    return false;
  }

  const std::vector<Pending>& code_;
  const std::vector<LoweredKernel::Constant>& constants_;
  const ControlFlow& flow_;
  const std::vector<std::uint32_t>& block_of_;
  const std::vector<std::uint32_t>& post_dominators_;
  const Primitives& primitives_;
  std::vector<std::uint32_t> definition_;  // by register: the instruction that writes it, if one
  std::vector<Atomic> atomics_;
};

}  // namespace

std::vector<char> find_guesses(const std::vector<Pending>& code, std::size_t registers,
                               const std::vector<LoweredKernel::Constant>& constants,
                               const ControlFlow& flow, const std::vector<std::uint32_t>& block_of,
                               const std::vector<std::uint32_t>& post_dominators,
                               const Primitives& primitives) {
  std::vector<char> guesses(code.size(), 0);
  if (std::ranges::none_of(code, is_atomic_opcode)) return guesses;
  const GuessFinder finder(code, registers, constants, flow, block_of, post_dominators, primitives);
  for (std::size_t i = 0; i < code.size(); ++i) {
    guesses[i] = is_plain_load(code[i]) && finder.is_guess(code[i]) ? 1 : 0;
  }
  return guesses;
}

}  // namespace simgpu
