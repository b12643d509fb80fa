#include "simgpu/model/meetings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace simgpu::model {
namespace {

/// The basic block that begins with instruction `begin`.
std::span<const InstructionInfo> block_at(std::size_t begin, const Work& work) {
  std::size_t end = begin + 1;
  while (end < work.program.size() && !work.program[end].starts_block) ++end;
  return work.program.subspan(begin, end - begin);
}

/// Only the first instruction of a block leads anywhere.
bool leads_to(const InstructionInfo& block, std::size_t target) {
  return std::ranges::find(block.leads_to, target) != block.leads_to.end();
}

/// Whether it may read what is in shared memory: asking an mbarrier is an atomic here.
bool looks(const InstructionInfo& instruction) {
  const InstructionClass cls = instruction.cls;
  const bool may_look = cls == InstructionClass::shared_load ||
                        cls == InstructionClass::shared_atomic ||
                        cls == InstructionClass::generic_access;
  return may_look && !instruction.writes.empty();
}

bool changes_no_memory(const InstructionInfo& instruction) {
  const InstructionClass cls = instruction.cls;
  return looks(instruction) || only_computes(cls) || cls == InstructionClass::control ||
         cls == InstructionClass::warp_exchange || cls == InstructionClass::other;
}

/// A loop whose turns are all the same for the warp: only what others do to the memory that it
/// looks at can end it.
bool is_poll(std::span<const InstructionInfo> block) {
  std::set<std::uint32_t> written, carried;
  bool any_looks = false;
  for (const InstructionInfo& instruction : block) {
    if (!changes_no_memory(instruction)) return false;
    any_looks |= looks(instruction);
    for (const std::uint32_t slot : instruction.reads) {
      if (!written.contains(slot)) carried.insert(slot);
    }
    written.insert(instruction.writes.begin(), instruction.writes.end());
  }
  return any_looks &&
         std::ranges::none_of(carried, [&](std::uint32_t slot) { return written.contains(slot); });
}

/// By instruction: how often warps come to the block that begins there from other blocks.
std::vector<std::uint64_t> entries(const Work& work) {
  std::vector<std::uint64_t> times(work.program.size() + 1, 0);
  for (std::size_t block = 0; block < work.program.size(); ++block) {
    for (const std::uint32_t next : work.program[block].leads_to) {
      if (next != block && next < times.size()) times[next] += work.executed[block].warps;
    }
  }
  return times;
}

/// A poll ends as often as warps come to it.
double ended_polls(const Work& work) {
  const std::vector<std::uint64_t> entered = entries(work);
  double ended = 0;
  for (std::size_t block = 0; block < work.program.size(); ++block) {
    if (!leads_to(work.program[block], block) || !is_poll(block_at(block, work))) continue;
    ended += static_cast<double>(std::min(entered[block], work.executed[block].warps));
  }
  return ended;
}

}  // namespace

double meetings_of_a_warp(const Work& work) {
  const auto warps = static_cast<double>(work.blocks * work.warps_per_block);
  return std::max(work.warp_instructions(InstructionClass::barrier), ended_polls(work)) / warps;
}

}  // namespace simgpu::model
