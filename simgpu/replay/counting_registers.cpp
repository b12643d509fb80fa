#include "simgpu/replay/counting_registers.h"

#include <algorithm>
#include <cstddef>

namespace simgpu::replay {
namespace {

bool holds(const std::vector<std::uint32_t>& registers, std::uint32_t reg) {
  return std::ranges::find(registers, reg) != registers.end();
}

/// Which instructions write each register.
using Writers = std::vector<std::vector<std::uint32_t>>;

Writers writers_of(const LoweredKernel& kernel) {
  Writers writers(kernel.registers.size());
  const std::vector<InstructionInfo>& all = kernel.info.instructions;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::uint32_t reg : all[i].writes) {
      if (reg < writers.size()) writers[reg].push_back(static_cast<std::uint32_t>(i));
    }
  }
  return writers;
}

/// Whether an instruction makes the register's new value of its old one: by itself, or by taking
/// over what one other instruction has made of it.
bool updates(const KernelInfo& kernel, const Writers& writers, std::uint32_t index,
             std::uint32_t reg) {
  const std::vector<std::uint32_t>& reads = kernel.instructions[index].reads;
  if (holds(reads, reg)) return true;
  if (reads.size() != 1 || reads[0] >= writers.size() || writers[reads[0]].size() != 1)
    return false;
  return holds(kernel.instructions[writers[reads[0]].front()].reads, reg);
}

/// Whether the block of instructions that holds this one jumps back to it or before it, and has
/// only its line behind it.
bool ends_loop(const KernelInfo& kernel, std::size_t index) {
  const std::vector<InstructionInfo>& all = kernel.instructions;
  const InstructionInfo& update = all[index];
  if (update.line == 0) return false;
  for (std::size_t i = index + 1; i < all.size() && !all[i].starts_block; ++i) {
    const bool is_elsewhere =
        all[i].line != 0 &&
        (all[i].line != update.line || all[i].file != update.file || all[i].call != update.call);
    if (is_elsewhere) return false;
  }
  std::size_t begin = index;
  while (begin > 0 && !all[begin].starts_block) --begin;
  return std::ranges::any_of(all[begin].leads_to,
                             [&](std::uint32_t target) { return target <= index; });
}

}  // namespace

std::vector<std::uint32_t> updaters(const LoweredKernel& kernel) {
  const Writers writers = writers_of(kernel);
  std::vector<std::uint32_t> found(kernel.registers.size(), kNone);
  for (std::uint32_t reg = 0; reg < found.size(); ++reg) {
    const auto is_update = [&](std::uint32_t index) {
      return updates(kernel.info, writers, index, reg);
    };
    const auto first = std::ranges::find_if(writers[reg], is_update);
    if (first == writers[reg].end()) continue;
    const bool is_only = std::none_of(first + 1, writers[reg].end(), is_update);
    if (is_only && ends_loop(kernel.info, *first)) found[reg] = *first;
  }
  return found;
}

void RegisterSeries::write(bool is_update, RegisterValues& written) {
  std::size_t next = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((written.lanes >> lane & 1U) == 0) continue;
    const std::uint64_t value = written.values.at(next++);
    if (!is_update) {
      first_[lane] = value;
      updates_[lane] = 0;
      continue;
    }
    if (updates_[lane] != kNeverSet) ++updates_[lane];
    written.updates.push_back(updates_[lane]);
    written.first.push_back(first_[lane]);
  }
}

}  // namespace simgpu::replay
