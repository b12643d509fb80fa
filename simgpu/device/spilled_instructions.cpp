#include "simgpu/device/spilled_instructions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

namespace simgpu {
namespace {

/// The instructions of one line: one for each place where its function is inlined.
struct Line {
  fatbin::Spills spills;
  std::vector<std::size_t> places;

  bool has_code() const { return spills.alike > 0; }
};
using Lines = std::map<std::uint32_t, Line>;

/// A line is lowered to several instructions, of which the first stands for it.
Lines places_of_lines(const std::vector<InstructionInfo>& instructions) {
  Lines lines;
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const std::uint32_t line = instructions[i].ptx_line;
    if (line != before) lines[line].places.push_back(i);
    before = line;
  }
  for (auto& [number, line] : lines) line.spills.alike = 0;
  return lines;
}

/// The line's own, or else the one before it.
Line& owner_of(std::uint32_t number, Lines& lines) {
  const auto next = lines.upper_bound(number);
  return next == lines.begin() ? next->second : std::prev(next)->second;
}

void add_spills(const fatbin::Spills& from, fatbin::Spills& to) {
  to.loads += from.loads;
  to.stores += from.stores;
  to.load_words += from.load_words;
  to.store_words += from.store_words;
}

/// Whether the machine has one instruction for it, so that several that are alike are copies. Of
/// accesses it is known for a word: a matrix is loaded by several.
bool is_one_of_the_machine(const InstructionInfo& instruction) {
  constexpr unsigned kWord = 4;
  switch (instruction.cls) {
    case InstructionClass::fp32:
    case InstructionClass::fp16:
    case InstructionClass::fp64:
      return instruction.issues && instruction.sequence.empty();
    case InstructionClass::shared_load:
    case InstructionClass::shared_store:
    case InstructionClass::global_load:
    case InstructionClass::global_store:
      return instruction.access_bytes > 0 && instruction.access_bytes <= kWord;
    default:
      return false;
  }
}

/// Of how many copies of a line's code each of its places has its share.
double share_of(const Line& line) {
  return std::max(1.0, line.spills.alike / static_cast<double>(line.places.size()));
}

/// By instruction: how often ptxas unrolled its basic block, as the middle one of the lines tells
/// that are one instruction of the machine each. What one line has several of by itself proves
/// nothing: without such lines it is once.
std::vector<double> copies_of_blocks(const Lines& lines,
                                     const std::vector<InstructionInfo>& instructions) {
  std::vector<double> told(instructions.size(), 0);
  for (const auto& [number, line] : lines) {
    if (!line.has_code()) continue;
    for (const std::size_t place : line.places) {
      if (is_one_of_the_machine(instructions[place])) told[place] = share_of(line);
    }
  }
  std::vector<double> copies(instructions.size(), 1);
  for (std::size_t begin = 0, end = 0; begin < instructions.size(); begin = end) {
    for (end = begin + 1; end < instructions.size() && !instructions[end].starts_block;) ++end;
    std::vector<double> of_block;
    std::copy_if(told.begin() + static_cast<std::ptrdiff_t>(begin),
                 told.begin() + static_cast<std::ptrdiff_t>(end), std::back_inserter(of_block),
                 [](double share) { return share > 0; });
    if (of_block.empty()) continue;
    const auto middle = of_block.begin() + static_cast<std::ptrdiff_t>((of_block.size() - 1) / 2);
    std::ranges::nth_element(of_block, middle);
    std::fill(copies.begin() + static_cast<std::ptrdiff_t>(begin),
              copies.begin() + static_cast<std::ptrdiff_t>(end), *middle);
  }
  return copies;
}

}  // namespace

std::vector<InstructionSpills> spills_by_instruction(
    const std::vector<fatbin::Spills>& lines, const std::vector<InstructionInfo>& instructions) {
  std::vector<InstructionSpills> spills(instructions.size());
  Lines places = places_of_lines(instructions);
  if (places.empty()) return spills;
  for (const fatbin::Spills& line : lines) {
    add_spills(line, owner_of(line.ptx_line, places).spills);
    if (const auto own = places.find(line.ptx_line); own != places.end()) {
      own->second.spills.alike = line.alike;
    }
  }
  const std::vector<double> copies = copies_of_blocks(places, instructions);
  for (const auto& [number, line] : places) {
    const fatbin::Spills& all = line.spills;
    if (all.loads + all.stores == 0) continue;
    for (const std::size_t place : line.places) {
      const double inlined = static_cast<double>(line.places.size());
      const double times = std::clamp(static_cast<double>(all.alike), 1.0, inlined * copies[place]);
      spills[place] = {all.loads / times, all.stores / times, all.load_words / times,
                       all.store_words / times};
    }
  }
  return spills;
}

}  // namespace simgpu
