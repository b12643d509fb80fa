#include "simgpu/sass/ptx_counts.h"

#include <algorithm>
#include <cstddef>

namespace simgpu::sass {
namespace {

std::size_t end_of_block(std::span<const InstructionInfo> program, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < program.size() && !program[end].starts_block) ++end;
  return end;
}

ExecutionCount most_of(std::span<const ExecutionCount> executed) {
  ExecutionCount most;
  for (const ExecutionCount& one : executed) {
    most.warps = std::max(most.warps, one.warps);
    most.threads = std::max(most.threads, one.threads);
  }
  return most;
}

/// Lowering may make several instructions of one; they follow each other, and count once.
std::size_t end_of_line(std::span<const InstructionInfo> program, std::size_t begin,
                        std::size_t end) {
  std::size_t next = begin + 1;
  while (next < end && program[next].ptx_line == program[begin].ptx_line) ++next;
  return next;
}

/// The instruction that lowering made first of a line tells what it is.
void describe(const InstructionInfo& info, LineCount& line) {
  line.cls = info.cls;
  line.is_guarded = info.guard != InstructionInfo::kNoRegister;
  line.is_sequence = !info.sequence.empty();
  line.access_bytes = info.access_bytes;
}

}  // namespace

PtxCounts count_lines(std::span<const InstructionInfo> program,
                      std::span<const ExecutionCount> executed) {
  PtxCounts counts;
  if (program.empty() || executed.size() != program.size()) return counts;
  const std::vector<PtxLoop> loops = find_ptx_loops(program, executed);
  for (std::size_t begin = 0, end = 0; begin < program.size(); begin = end) {
    end = end_of_block(program, begin);
    const ExecutionCount block = most_of(executed.subspan(begin, end - begin));
    if (begin == 0) counts.threads = static_cast<double>(block.threads);
    for (std::size_t at = begin, next = 0; at < end; at = next) {
      next = end_of_line(program, at, end);
      LineCount& line = counts.lines[program[at].ptx_line];
      describe(program[at], line);
      // Loops of several copies that inlining has made are not told apart.
      line.loop = line.block_threads == 0 ? loops[at] : PtxLoop{};
      if (line.ptx_block == 0) line.ptx_block = program[begin].ptx_line;
      for (std::size_t i = at; i < next; ++i)
        line.issued += program[i].issue_slots() * static_cast<double>(executed[i].warps);
      line.threads += static_cast<double>(most_of(executed.subspan(at, next - at)).threads);
      line.block_threads += static_cast<double>(block.threads);
      line.block_warps += static_cast<double>(block.warps);
    }
  }
  return counts;
}

}  // namespace simgpu::sass
