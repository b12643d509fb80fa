#include "simgpu/model/polls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "simgpu/model/basic_blocks.h"

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

using Slots = std::unordered_set<std::uint32_t>;

/// What decides about a loop.
class LoopValues {
 public:
  LoopValues(const Loop& loop, std::span<const InstructionInfo> program) : program_(program) {
    for (const std::size_t begin : loop.blocks) {
      const std::size_t end = end_of_block(program, begin);
      for (std::size_t i = begin; i < end; ++i) add(i);
    }
    find_same();
    for (const std::size_t i : code_) {
      if (may_look(program[i]) && all_same(program[i].reads)) looks_.push_back(i);
    }
  }

  /// The looks, if what they find decides about a branch of the loop; none: it is no poll. `seen`
  /// are looks that decide about a loop inside it.
  std::vector<std::size_t> deciding(const std::unordered_set<std::size_t>& seen) const {
    std::vector<std::size_t> looks;
    Slots hang, found;  // on the looks; what they have found as it is
    for (const std::size_t i : looks_) {
      if (seen.contains(i)) continue;
      looks.push_back(i);
      found.insert(program_[i].writes.begin(), program_[i].writes.end());
    }
    if (looks.empty()) return {};
    // In a loop that changes memory a compiler loads anew what does not change: as a bound, say,
    // for a counter. There only what follows from looks alone tells a wait.
    if (!changes_memory_) hang = found;
    bool decides = false;
    const auto in = [](const Slots& slots) {
      return [&](std::uint32_t slot) { return slots.contains(slot); };
    };
    spread({found.begin(), found.end()}, [&](std::size_t i, std::vector<std::uint32_t>& changed) {
      const InstructionInfo& instruction = program_[i];
      const auto& reads = instruction.reads;
      const bool hangs = std::ranges::any_of(reads, in(hang));
      const bool finds = std::ranges::any_of(reads, in(found)) &&
                         std::ranges::all_of(reads, [&](std::uint32_t slot) {
                           return found.contains(slot) || is_same(slot);
                         });
      if (!hangs && !finds) return;
      decides |= instruction.cls == InstructionClass::control;
      if (!computes(instruction)) return;
      for (const std::uint32_t slot : instruction.writes) {
        const bool is_new = hang.insert(slot).second;
        if ((finds && found.insert(slot).second) || is_new) changed.push_back(slot);
      }
    });
    if (!decides) looks.clear();
    return looks;
  }

 private:
  void add(std::size_t i) {
    code_.push_back(i);
    changes_memory_ |= changes_memory(program_[i]);
    for (const std::uint32_t slot : program_[i].writes) ++writers_[slot];
    for (const std::uint32_t slot : program_[i].reads) readers_[slot].push_back(i);
  }

  /// Calls visit(instruction, changed) for those that read slots that have changed, which it may
  /// add to, until nothing changes any more.
  template <class Visit>
  void spread(std::vector<std::uint32_t> changed, const Visit& visit) const {
    while (!changed.empty()) {
      const auto readers = readers_.find(changed.back());
      changed.pop_back();
      if (readers == readers_.end()) continue;
      for (const std::size_t i : readers->second) visit(i, changed);
    }
  }

  bool is_same(std::uint32_t slot) const {
    return !writers_.contains(slot) || same_.contains(slot);
  }
  bool all_same(const std::vector<std::uint32_t>& slots) const {
    return std::ranges::all_of(slots, [&](std::uint32_t slot) { return is_same(slot); });
  }

  /// Values that are the same in each turn, though they are computed in it.
  void find_same() {
    std::vector<std::uint32_t> found;
    const auto visit = [&](std::size_t i, std::vector<std::uint32_t>& changed) {
      const InstructionInfo& instruction = program_[i];
      if (!only_computes(instruction.cls) || !all_same(instruction.reads)) return;
      for (const std::uint32_t slot : instruction.writes) {
        if (writers_.at(slot) == 1 && same_.insert(slot).second) changed.push_back(slot);
      }
    };
    for (const std::size_t i : code_) visit(i, found);
    spread(std::move(found), visit);
  }

  std::span<const InstructionInfo> program_;
  std::vector<std::size_t> code_;
  std::vector<std::size_t> looks_;  // at the same place, with the same operands, in each turn
  bool changes_memory_ = false;
  std::unordered_map<std::uint32_t, int> writers_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> readers_;
  Slots same_;
};

/// Basic blocks that look, each as a wait that every look ends.
std::vector<Loop> blocks_that_look(std::span<const InstructionInfo> program) {
  std::vector<Loop> blocks;
  for (std::size_t begin = 0; begin < program.size();) {
    const std::size_t end = end_of_block(program, begin);
    if (std::ranges::any_of(program.subspan(begin, end - begin), may_look)) {
      blocks.push_back({{begin}, begin, {begin}});
    }
    begin = end;
  }
  return blocks;
}

std::size_t length_of(const Loop& loop, std::span<const InstructionInfo> program) {
  std::size_t length = 0;
  for (const std::size_t begin : loop.blocks) length += end_of_block(program, begin) - begin;
  return length;
}

}  // namespace

std::vector<Loop> find_polls(std::span<const InstructionInfo> program,
                             std::span<const ExecutionCount> executed) {
  // Instructions that are looked at for all loops together: the long code inside many loops is
  // looked at for each of them.
  constexpr std::size_t kMostLookedAt = std::size_t{1} << 22;
  if (std::ranges::none_of(program, may_look)) return {};
  std::optional<std::vector<Loop>> loops = find_loops(program, executed);
  if (!loops) return blocks_that_look(program);
  std::vector<Loop> polls;
  std::unordered_set<std::size_t> seen;
  std::size_t looked_at = 0;
  for (Loop& loop : *loops) {
    looked_at += length_of(loop, program);
    if (looked_at > kMostLookedAt) return blocks_that_look(program);
    const std::vector<std::size_t> looks = LoopValues(loop, program).deciding(seen);
    if (looks.empty()) continue;
    seen.insert(looks.begin(), looks.end());
    polls.push_back(std::move(loop));
  }
  return polls;
}

}  // namespace simgpu::model
