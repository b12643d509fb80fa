#include "simgpu/model/polls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace simgpu::model {
namespace {

/// Whether it may read what is in shared memory: asking an mbarrier is an atomic here.
bool may_look(const InstructionInfo& instruction) {
  const InstructionClass cls = instruction.cls;
  return !instruction.writes.empty() &&
         (cls == InstructionClass::shared_load || cls == InstructionClass::shared_atomic ||
          cls == InstructionClass::generic_access);
}

/// Whether its results follow from its operands alone, be it those of other lanes.
bool computes(const InstructionInfo& instruction) {
  return only_computes(instruction.cls) || instruction.cls == InstructionClass::warp_exchange;
}

bool changes_memory(const InstructionInfo& instruction) {
  const InstructionClass cls = instruction.cls;
  return !may_look(instruction) && !computes(instruction) && cls != InstructionClass::control &&
         cls != InstructionClass::other && cls != InstructionClass::global_load &&
         cls != InstructionClass::local_load && cls != InstructionClass::constant_load;
}

/// What decides about a loop.
class LoopValues {
 public:
  LoopValues(const Loop& loop, std::span<const InstructionInfo> program) {
    for (const std::size_t begin : loop.blocks) {
      std::size_t i = begin;
      do {
        code_.push_back(i);
        changes_memory_ |= changes_memory(program[i]);
        for (const std::uint32_t slot : program[i].writes) ++writers_[slot];
        ++i;
      } while (i < program.size() && !program[i].starts_block);
    }
    find_same(program);
    find_looks(program);
  }

  /// The looks, if what they find decides about a branch of the loop; none: it is no poll. `seen`
  /// are looks that decide about a loop inside it.
  std::vector<std::size_t> deciding(const std::unordered_set<std::size_t>& seen,
                                    std::span<const InstructionInfo> program) const {
    std::vector<std::size_t> looks;
    Slots hang, found;  // on the looks; what they have found as it is
    for (const std::size_t i : looks_) {
      if (seen.contains(i)) continue;
      looks.push_back(i);
      found.insert(program[i].writes.begin(), program[i].writes.end());
    }
    if (looks.empty()) return {};
    // In a loop that changes memory a compiler loads anew what does not change: as a bound, say,
    // for a counter. There only what follows from looks alone tells a wait.
    if (!changes_memory_) hang = found;
    bool decides = false;
    const auto in = [](const Slots& slots) {
      return [&](std::uint32_t slot) { return slots.contains(slot); };
    };
    repeat_until_stable([&](std::size_t i) {
      const InstructionInfo& instruction = program[i];
      const auto& reads = instruction.reads;
      const bool hangs = std::ranges::any_of(reads, in(hang));
      decides |= hangs && instruction.cls == InstructionClass::control;
      const bool finds = std::ranges::any_of(reads, in(found)) &&
                         std::ranges::all_of(reads, [&](std::uint32_t slot) {
                           return found.contains(slot) || is_same(slot);
                         });
      decides |= finds && instruction.cls == InstructionClass::control;
      if (!computes(instruction) || !(hangs || finds)) return false;
      bool changed = false;
      for (const std::uint32_t slot : instruction.writes) changed |= hang.insert(slot).second;
      if (!finds) return changed;
      for (const std::uint32_t slot : instruction.writes) changed |= found.insert(slot).second;
      return changed;
    });
    if (!decides) looks.clear();
    return looks;
  }

 private:
  using Slots = std::unordered_set<std::uint32_t>;

  /// Calls `change` for each instruction until a round through all of them has changed nothing.
  template <class Change>
  void repeat_until_stable(const Change& change) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::size_t i : code_) changed |= change(i);
    }
  }

  bool is_same(std::uint32_t slot) const {
    return !writers_.contains(slot) || same_.contains(slot);
  }
  bool all_same(const std::vector<std::uint32_t>& slots) const {
    return std::ranges::all_of(slots, [&](std::uint32_t slot) { return is_same(slot); });
  }

  /// Values that are the same in each turn, though they are computed in it.
  void find_same(std::span<const InstructionInfo> program) {
    repeat_until_stable([&](std::size_t i) {
      const InstructionInfo& instruction = program[i];
      if (!only_computes(instruction.cls) || !all_same(instruction.reads)) return false;
      bool changed = false;
      for (const std::uint32_t slot : instruction.writes) {
        if (writers_.at(slot) == 1) changed |= same_.insert(slot).second;
      }
      return changed;
    });
  }

  void find_looks(std::span<const InstructionInfo> program) {
    for (const std::size_t i : code_) {
      if (may_look(program[i]) && all_same(program[i].reads)) looks_.push_back(i);
    }
  }

  std::vector<std::size_t> code_;
  std::vector<std::size_t> looks_;  // at the same place, with the same operands, in each turn
  bool changes_memory_ = false;
  std::unordered_map<std::uint32_t, int> writers_;
  Slots same_;
};

}  // namespace

std::vector<Loop> find_polls(std::span<const InstructionInfo> program,
                             std::span<const ExecutionCount> executed) {
  std::vector<Loop> polls;
  if (std::ranges::none_of(program, may_look)) return polls;
  std::unordered_set<std::size_t> seen;
  for (Loop& loop : find_loops(program, executed)) {
    const std::vector<std::size_t> looks = LoopValues(loop, program).deciding(seen, program);
    if (looks.empty()) continue;
    seen.insert(looks.begin(), looks.end());
    polls.push_back(std::move(loop));
  }
  return polls;
}

}  // namespace simgpu::model
