#include "simgpu/lower/result_uses.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace simgpu {
namespace {

/// Behind as many instructions no memory has still to answer.
constexpr unsigned kFarthest = 1024;

bool has_result(const Pending& pending) {
  return pending.dst.kind == Ref::Kind::reg || !pending.outs.empty();
}

bool is_load(const Pending& pending) {
  const InstructionClass cls = pending.cost.cls;
  return has_result(pending) &&
         (cls == InstructionClass::global_load || cls == InstructionClass::generic_access);
}

/// Whether the assembler leaves an instruction out when nothing reads its results: ptxas 13.0 does
/// so with computations, exchanges across the warp, and loads that nothing orders.
bool only_has_results(const Pending& pending) {
  const bool does_more = pending.flow != Flow::next || !pending.writes_passed.empty();
  if (does_more || !has_result(pending)) return false;
  if (pending.hidden) return !pending.is_memory;
  switch (pending.cost.cls) {
    case InstructionClass::global_load:
    case InstructionClass::shared_load:
    case InstructionClass::local_load:
    case InstructionClass::constant_load:
    case InstructionClass::generic_access:
      return !pending.is_volatile && !pending.orders_others;
    case InstructionClass::warp_exchange:
      return !pending.is_memory;
    default:
      return only_computes(pending.cost.cls) && !pending.is_memory;
  }
}

/// Which instructions what the kernel does depends on: those that do more than have results, and
/// those whose results such an instruction reads. Each is looked at once, however long a chain is.
class Needs {
 public:
  Needs(const std::vector<Pending>& code, std::size_t registers)
      : code_(code), needed_(code.size(), 0), writers_(registers) {
    for (std::uint32_t i = 0; i < code.size(); ++i) {
      each_write(code[i], [&](std::uint32_t r) { writers_[r].push_back(i); });
      if (!only_has_results(code[i])) need(i);
    }
    while (!open_.empty()) {
      const std::uint32_t reader = open_.back();
      open_.pop_back();
      each_read(code_[reader], [&](std::uint32_t r) {
        for (const std::uint32_t writer : std::exchange(writers_[r], {})) need(writer);
      });
    }
  }

  bool is_needed(std::uint32_t instruction) const { return needed_[instruction] != 0; }

 private:
  void need(std::uint32_t instruction) {
    if (std::exchange(needed_[instruction], 1) == 0) open_.push_back(instruction);
  }

  const std::vector<Pending>& code_;
  std::vector<char> needed_;
  std::vector<std::vector<std::uint32_t>> writers_;  ///< by register, until somebody needs it
  std::vector<std::uint32_t> open_;                  ///< whose operands have not been looked at
};

/// Goes from a load to what is certainly executed after it.
class Following {
 public:
  Following(const std::vector<Pending>& code, const ControlFlow& flow, const Needs& needs)
      : code_(code), flow_(flow), needs_(needs) {}

  /// @param block in which the load is
  ResultUse use_of(std::uint32_t load, std::uint32_t block) const {
    std::vector<std::uint32_t> results;
    each_write(code_[load], [&](std::uint32_t r) { results.push_back(r); });
    std::uint32_t at = load + 1;
    for (unsigned step = 0; step < kFarthest; ++step, ++at) {
      while (at == flow_.first[block + 1]) {
        if (flow_.successors[block].size() != 1) return ResultUse::later;
        block = flow_.successors[block].front();
        if (block == flow_.blocks() || ++step >= kFarthest) return ResultUse::later;
        at = flow_.first[block];
      }
      const Pending& next = code_[at];
      const bool is_guarded = next.guard.kind != Ref::Kind::none;
      if (!is_guarded && needs_.is_needed(at) && reads_any(next, results)) return ResultUse::soon;
      if (is_guarded) continue;
      each_write(next, [&](std::uint32_t r) { std::erase(results, r); });
      if (results.empty()) return ResultUse::later;
    }
    return ResultUse::soon;
  }

 private:
  static bool reads_any(const Pending& pending, const std::vector<std::uint32_t>& registers) {
    bool reads = false;
    each_read(pending, [&](std::uint32_t r) {
      reads = reads || std::ranges::find(registers, r) != registers.end();
    });
    return reads;
  }

  const std::vector<Pending>& code_;
  const ControlFlow& flow_;
  const Needs& needs_;
};

}  // namespace

std::vector<ResultUse> find_result_uses(const std::vector<Pending>& code, std::size_t registers,
                                        const ControlFlow& flow) {
  std::vector<ResultUse> uses(code.size(), ResultUse::soon);
  const Needs needs(code, registers);
  const Following following(code, flow, needs);
  for (std::uint32_t block = 0; block < flow.blocks(); ++block) {
    for (std::uint32_t i = flow.first[block]; i < flow.first[block + 1]; ++i) {
      if (!needs.is_needed(i)) {
        uses[i] = ResultUse::never;
      } else if (is_load(code[i])) {
        uses[i] = following.use_of(i, block);
      }
    }
  }
  return uses;
}

}  // namespace simgpu
