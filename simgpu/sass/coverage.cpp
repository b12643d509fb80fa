#include "simgpu/sass/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace simgpu::sass {
namespace {

/// Of what PTX issues, in loops of which nothing tells how often they are executed.
constexpr double kMostUntold = 0.2;
/// Of how often a block of PTX is executed, what has to be found of some line in it: code that is
/// done once for several threads or turns is in its block, too.
constexpr double kLeastFound = 0.95;

/// First lines of the basic blocks of PTX of which some line is executed as often in machine code.
std::set<std::uint32_t> told_blocks(const std::vector<Anchor>& anchors, const PtxCounts& counts,
                                    std::span<const double> threads) {
  std::set<std::uint32_t> told;
  for (const Anchor& anchor : anchors) {
    double found = 0;
    for (const auto& [block, copies] : anchor.copies) found += copies * threads[block];
    for (const auto& [block, copies] : anchor.predicated) found += copies * threads[block];
    // Several that are alike may be the copies of a loop that is unrolled whole.
    for (const auto& [number, alike] : anchor.ptx_lines) {
      const LineCount& line = counts.lines.at(number);
      if (alike * found >= kLeastFound * line.block_threads) told.insert(line.ptx_block);
    }
  }
  return told;
}

/// Of all that PTX issues, the share in blocks that are executed several times and not told of; or
/// of what machine code was made of, where that is more: what ptxas leaves out hides nothing.
double untold_share(const KernelCode& code, const std::vector<Anchor>& anchors,
                    const PtxCounts& counts, std::span<const double> threads) {
  constexpr double kOnce = 1.001;  // of the threads of a sampled launch
  const std::set<std::uint32_t> told = told_blocks(anchors, counts, threads);
  std::set<std::uint32_t> has_code;
  for (const Instruction& instruction : code.instructions) has_code.insert(instruction.ptx_line);
  struct Share {
    double all = 0, untold = 0;
    double value() const { return all > 0 ? untold / all : 0; }
  };
  Share of_ptx, of_code;
  for (const auto& [number, line] : counts.lines) {
    const bool is_untold =
        line.block_threads > kOnce * counts.threads && !told.contains(line.ptx_block);
    for (Share* const share : {&of_ptx, &of_code}) {
      if (share == &of_code && !has_code.contains(number)) continue;
      share->all += line.issued;
      if (is_untold) share->untold += line.issued;
    }
  }
  return std::max(of_ptx.value(), of_code.value());
}

/// What asks memory, or the tensor cores, and how much of it has to be found.
struct Kind {
  std::string_view name;
  double least = 0;
};

const Kind* kind_of(InstructionClass cls) {
  // ptxas leaves out loads whose value it has.
  static constexpr Kind kLoads{"loads", 0.7}, kStores{"stores", 0.98}, kAtomics{"atomics", 0.98},
      kProducts{"products on tensor cores", 0.98}, kCopies{"asynchronous copies", 0.98};
  switch (cls) {
    case InstructionClass::global_load:
    case InstructionClass::shared_load:
      return &kLoads;
    case InstructionClass::global_store:
    case InstructionClass::shared_store:
      return &kStores;
    case InstructionClass::global_atomic:
    case InstructionClass::shared_atomic:
      return &kAtomics;
    case InstructionClass::tensor:
      return &kProducts;
    case InstructionClass::async_copy:
      return &kCopies;
    default:
      return nullptr;
  }
}

bool is_access(InstructionClass cls) {
  return kind_of(cls) != nullptr || cls == InstructionClass::generic_access;
}

struct Amount {
  double ptx = 0, machine = 0;
};

/// What is executed of the access of a line, by its bytes in machine code: several loads may be one
/// wide one there.
struct FoundAccess {
  double threads = 0;
  unsigned bytes = 0;  ///< of a lane
};

/// By what kind of work it is, in bytes of lanes where they are known of both, else in lanes.
std::string missing_work(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                         const PtxCounts& counts, std::span<const double> threads) {
  std::map<std::uint32_t, FoundAccess> found;  // by line
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::uint32_t at = blocks[i].first; at < blocks[i].last; ++at) {
      const Instruction& one = code.instructions[at];
      const auto line = counts.lines.find(one.ptx_line);
      if (line == counts.lines.end() || !is_access(one.cls)) continue;
      const unsigned bytes = one.access_bytes != 0 ? one.access_bytes : line->second.access_bytes;
      FoundAccess& access = found[one.ptx_line];
      access.threads += threads[i];
      access.bytes = std::max({access.bytes, bytes, 1U});
    }
  }
  std::map<InstructionClass, Amount> amounts;
  for (const auto& [number, line] : counts.lines) {
    if (kind_of(line.cls) == nullptr) continue;
    Amount& amount = amounts[line.cls];
    amount.ptx += line.threads * std::max(line.access_bytes, 1U);
    const auto machine = found.find(number);
    if (machine == found.end()) continue;
    // Threads whose predicate keeps them from it come by in machine code, and do nothing there.
    amount.machine += std::min(machine->second.threads, line.threads) * machine->second.bytes;
  }
  std::string why;
  for (const auto& [cls, amount] : amounts) {
    const Kind& kind = *kind_of(cls);
    if (amount.machine >= kind.least * amount.ptx) continue;
    why = fmt::format("{:.1f} % of its {} are missing", 100 * (1 - amount.machine / amount.ptx),
                      kind.name);
  }
  return why;
}

}  // namespace

std::string what_is_missing(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                            const std::vector<Anchor>& anchors, const PtxCounts& counts,
                            std::span<const double> threads) {
  const double untold = untold_share(code, anchors, counts, threads);
  if (!(untold <= kMostUntold)) return "a loop has nothing that tells how often it is executed";
  return missing_work(code, blocks, counts, threads);
}

}  // namespace simgpu::sass
