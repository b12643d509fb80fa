#include "simgpu/lower/control_state.h"

#include <algorithm>

namespace simgpu {
namespace {

/// Results are computed from operands alone, and nothing else happens.
bool is_arithmetic(const Pending& pending) {
  return pending.flow == Flow::next && !pending.is_memory && only_computes(pending.cost.cls);
}

class Finder {
 public:
  Finder(const std::vector<Pending>& code, std::size_t registers)
      : code_(code), decides_(registers, 0) {}

  void find() {
    for (const Pending& pending : code_) {
      if (!is_arithmetic(pending)) add_deciding_operands(pending);
    }
    // Against the flow of values a few passes are enough, but for code made to take more.
    constexpr int kMostPasses = 64;
    for (int pass = 0; changed_; ++pass) {
      if (pass == kMostPasses) {
        std::ranges::fill(decides_, 1);
        return;
      }
      changed_ = false;
      for (auto pending = code_.rbegin(); pending != code_.rend(); ++pending) {
        if (decides_any(*pending)) add_all_operands(*pending);
      }
    }
  }
  bool decides(std::size_t reg) const { return decides_[reg] != 0; }
  bool needs_memory() const {
    return std::ranges::any_of(code_, [this](const Pending& pending) {
      return reads_memory(pending) && decides_any(pending);
    });
  }

 private:
  /// Values of other lanes are no memory; constants and kernel parameters do not change.
  static bool reads_memory(const Pending& pending) {
    if (is_arithmetic(pending) || pending.cost.cls == InstructionClass::warp_exchange) return false;
    return pending.cost.cls != InstructionClass::constant_load;
  }
  void add(const Ref& ref) {
    if (ref.kind != Ref::Kind::reg || decides_[ref.index] != 0) return;
    decides_[ref.index] = 1;
    changed_ = true;
  }
  /// What is only stored decides nothing.
  void add_deciding_operands(const Pending& pending) {
    for (const Ref* ref : {&pending.a, &pending.c, &pending.d, &pending.guard}) add(*ref);
    if (pending.only_stores) return;
    add(pending.b);
    for (const Ref& ref : pending.ins) add(ref);
  }
  void add_all_operands(const Pending& pending) {
    for (const Ref* ref : {&pending.a, &pending.b, &pending.c, &pending.d, &pending.guard}) {
      add(*ref);
    }
    for (const Ref& ref : pending.ins) add(ref);
  }
  bool decides_any(const Pending& pending) const {
    const auto is_one = [this](const Ref& ref) {
      return ref.kind == Ref::Kind::reg && decides_[ref.index] != 0;
    };
    return is_one(pending.dst) || is_one(pending.dst2) || std::ranges::any_of(pending.outs, is_one);
  }

  const std::vector<Pending>& code_;
  std::vector<char> decides_;  // by virtual register
  bool changed_ = true;
};

}  // namespace

ControlState find_control_state(const std::vector<Pending>& code, const Allocation32& registers,
                                const std::vector<SlotKind>& kinds) {
  ControlState state;
  Finder finder(code, kinds.size());
  finder.find();
  state.needs_memory = finder.needs_memory();
  for (std::size_t reg = 0; reg < kinds.size(); ++reg) {
    const Allocation32::Life& life = registers.lives[reg];
    if (!finder.decides(reg) || life.first > life.last) continue;
    state.registers.push_back(
        {{registers.offset[reg], slot_bytes(kinds[reg])}, life.first, life.last});
  }
  return state;
}

}  // namespace simgpu
