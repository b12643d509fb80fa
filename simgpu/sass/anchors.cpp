#include "simgpu/sass/anchors.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace simgpu::sass {
namespace {

constexpr unsigned kNumber = 0x1FF;  // of an opcode, without the form of its operands
/// What is often shared with others, moved out of loops, or made of something else.
constexpr double kPossible = 0.002;

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view one : names) {
    if (name == one) return true;
  }
  return false;
}

bool stores(InstructionClass cls) {
  return cls == InstructionClass::global_store || cls == InstructionClass::shared_store ||
         cls == InstructionClass::generic_access;
}

/// A load that is not as wide as in PTX was merged of several, maybe of turns of a loop.
double weight_of_load(const Instruction& instruction, const LineCount& line) {
  return instruction.access_bytes != 0 && instruction.access_bytes == line.access_bytes ? kLikely
                                                                                        : kPossible;
}

/// ptxas makes several alike of some instructions, as two of 32 bits for one of 64: as many as
/// there are at least in any place.
unsigned count_pairs_once(Anchor::Copies& all) {
  if (all.empty()) return 1;
  const unsigned fewest =
      std::ranges::min_element(all, {}, [](const auto& one) { return one.second; })->second;
  for (auto& [block, copies] : all) copies /= fewest;
  return fewest;
}

/// What is certain of how often the copies are executed.
void count_threads(const LineCount& line, Anchor& anchor) {
  anchor.threads = line.threads;
  anchor.is_at_least = line.is_guarded || anchor.copies.empty();
  if (!line.is_guarded || anchor.predicated.empty()) return;
  // Where a predicate stayed one, whole blocks come to it.
  anchor.threads = line.block_threads;
  if (line.threads > 0) anchor.times = line.block_threads / line.threads;
}

}  // namespace

double anchor_weight(const Instruction& instruction, const LineCount& line) {
  const std::string_view name = instruction.name;
  if (is_any_of(name, {"STG", "STS", "ST"}))
    return stores(line.cls) && instruction.access_bytes == line.access_bytes ? kCertain : 0;
  if (name == "BAR") return line.cls == InstructionClass::barrier ? kCertain : 0;
  if (name == "SHFL") return line.cls == InstructionClass::warp_exchange ? kCertain : 0;
  if (line.cls == InstructionClass::tensor) {
    // A sequence, but of one kind, the same everywhere.
    return is_any_of(name, {"HMMA", "IMMA", "DMMA"}) ? kPossible : 0;
  }
  if (line.is_sequence) return 0;
  switch (line.cls) {
    case InstructionClass::fp32:
      return is_any_of(name, {"FFMA", "FADD", "FMUL"})       ? kLikely
             : is_any_of(name, {"FMNMX", "FMNMX3", "FSETP"}) ? kPossible
                                                             : 0;
    case InstructionClass::fp64:
      return is_any_of(name, {"DFMA", "DADD", "DMUL"}) ? kLikely : 0;
    case InstructionClass::fp16:
      return is_any_of(name, {"HFMA2", "HADD2", "HMUL2"}) ? kLikely : 0;
    case InstructionClass::special:
      return name == "MUFU" ? kLikely : 0;
    case InstructionClass::global_load:
    case InstructionClass::shared_load:
    case InstructionClass::generic_access:
      return is_any_of(name, {"LDG", "LDS", "LD", "LDSM"}) ? weight_of_load(instruction, line) : 0;
    case InstructionClass::async_copy:
      return name == "LDGSTS" ? kLikely : 0;
    case InstructionClass::global_atomic:
    case InstructionClass::shared_atomic:
      // One lane may do it for its whole warp.
      return is_any_of(name, {"ATOM", "ATOMG", "ATOMS", "RED", "REDG"}) ? kPossible : 0;
    case InstructionClass::integer:
      return is_any_of(name, {"ISETP", "IADD3", "IADD", "IMAD", "LOP3", "SHF", "LEA", "PRMT",
                              "IMNMX", "VIADD", "VIMNMX", "SEL"})
                 ? kPossible
                 : 0;
    default:
      return 0;
  }
}

std::vector<Anchor> find_anchors(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                                 const PtxCounts& counts) {
  // Of one line several opcodes may be anchors, as FMUL and FADD of an fma that was taken apart.
  std::map<std::pair<std::uint32_t, unsigned>, Anchor> lines;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    for (std::uint32_t at = blocks[i].first; at < blocks[i].last; ++at) {
      const Instruction& instruction = code.instructions[at];
      const auto line = counts.lines.find(instruction.ptx_line);
      if (line == counts.lines.end()) continue;
      const double weight = anchor_weight(instruction, line->second);
      if (weight == 0) continue;
      Anchor& found = lines[{instruction.ptx_line, instruction.opcode & kNumber}];
      ++(instruction.predicate.is_always() ? found.copies : found.predicated)[i];
      found.weight = weight;
    }
  }
  using What = std::tuple<Anchor::Copies, Anchor::Copies, double, bool, double>;
  std::map<What, Anchor> merged;
  for (auto& [line, anchor] : lines) {
    unsigned alike = 1;
    if (anchor.weight < kLikely)
      alike = count_pairs_once(anchor.copies.empty() ? anchor.predicated : anchor.copies);
    const LineCount& counted = counts.lines.at(line.first);
    // Too little to be worth an equation.
    if (anchor.weight < kLikely && anchor.copies.empty() && !counted.is_guarded) continue;
    count_threads(counted, anchor);
    const auto [found, is_new] = merged.try_emplace(
        What{anchor.copies, anchor.predicated, anchor.threads, anchor.is_at_least, anchor.times},
        anchor);
    if (!is_new) found->second.weight += anchor.weight;
    unsigned& most_alike = found->second.ptx_lines[line.first];
    most_alike = std::max(most_alike, alike);
  }
  std::vector<Anchor> anchors;
  for (auto& [what, anchor] : merged) anchors.push_back(std::move(anchor));
  return anchors;
}

}  // namespace simgpu::sass
