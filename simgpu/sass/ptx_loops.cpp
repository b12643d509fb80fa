#include "simgpu/sass/ptx_loops.h"

#include <algorithm>
#include <optional>

#include "simgpu/sass/control_flow.h"

namespace simgpu::sass {
namespace {

constexpr std::uint32_t kOut = 0xFFFFFFFFU;

/// A way from a block to another, or out of the kernel, and the threads that take it.
struct Way {
  std::uint32_t from = 0, to = kOut;
  std::optional<double> threads = {};
};

/// Finds by the threads of blocks those of ways: where all ways but one are known, so is the last.
class Ways {
 public:
  Ways(const std::vector<BasicBlock>& blocks, const std::vector<double>& threads)
      : out_(blocks.size()), in_(blocks.size()) {
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      for (const std::uint32_t to : blocks[i].leads_to) add(i, to);
      if (blocks[i].may_end) add(i, kOut);
    }
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        changes = settle(out_[i], threads[i]) || changes;
        if (i != 0) changes = settle(in_[i], threads[i]) || changes;
      }
    }
  }

  /// Threads that come into the loop; nothing where that is not known.
  std::optional<double> entries(const Loop& loop) const {
    double sum = loop.head == 0 ? -1 : 0;
    if (sum < 0) return std::nullopt;
    for (const std::size_t way : in_[loop.head]) {
      if (std::ranges::binary_search(loop.blocks, ways_[way].from)) continue;
      if (!ways_[way].threads) return std::nullopt;
      sum += *ways_[way].threads;
    }
    return sum;
  }

 private:
  void add(std::uint32_t from, std::uint32_t to) {
    out_[from].push_back(ways_.size());
    if (to != kOut) in_[to].push_back(ways_.size());
    ways_.push_back({.from = from, .to = to});
  }

  bool settle(const std::vector<std::size_t>& together, double threads) {
    std::optional<std::size_t> open;
    for (const std::size_t way : together) {
      if (ways_[way].threads) {
        threads -= *ways_[way].threads;
      } else if (open) {
        return false;
      } else {
        open = way;
      }
    }
    if (!open) return false;
    ways_[*open].threads = std::max(0.0, threads);
    return true;
  }

  std::vector<Way> ways_;
  std::vector<std::vector<std::size_t>> out_, in_;  ///< of each block, indices of ways
};

struct PtxBlocks {
  std::vector<BasicBlock> blocks;
  std::vector<double> threads;
};

PtxBlocks blocks_of(std::span<const InstructionInfo> program,
                    std::span<const ExecutionCount> executed) {
  PtxBlocks ptx;
  std::vector<std::uint32_t> block_at(program.size() + 1, kOut);
  for (std::uint32_t begin = 0; begin < program.size();) {
    std::uint32_t end = begin + 1;
    while (end < program.size() && !program[end].starts_block) ++end;
    block_at[begin] = static_cast<std::uint32_t>(ptx.blocks.size());
    std::uint64_t threads = 0;
    for (std::uint32_t i = begin; i < end; ++i) threads = std::max(threads, executed[i].threads);
    ptx.blocks.push_back({.first = begin, .last = end, .leads_to = {}});
    ptx.threads.push_back(static_cast<double>(threads));
    begin = end;
  }
  for (BasicBlock& block : ptx.blocks) {
    for (const std::uint32_t next : program[block.first].leads_to) {
      const std::uint32_t to = next < program.size() ? block_at[next] : kOut;
      if (to == kOut) {
        block.may_end = true;
      } else {
        block.leads_to.push_back(to);
      }
    }
    std::ranges::sort(block.leads_to);
    const auto rest = std::ranges::unique(block.leads_to);
    block.leads_to.erase(rest.begin(), rest.end());
  }
  return ptx;
}

}  // namespace

std::vector<PtxLoop> find_ptx_loops(std::span<const InstructionInfo> program,
                                    std::span<const ExecutionCount> executed) {
  std::vector<PtxLoop> found(program.size());
  if (program.empty() || executed.size() != program.size()) return found;
  const PtxBlocks ptx = blocks_of(program, executed);
  const Ways ways(ptx.blocks, ptx.threads);
  std::vector<Loop> loops = find_loops(ptx.blocks);
  std::ranges::reverse(loops);  // what is inside comes last, and counts
  for (const Loop& loop : loops) {
    const double entries = ways.entries(loop).value_or(0);
    const double turns = entries > 0 ? ptx.threads[loop.head] / entries : 0;
    for (const std::uint32_t block : loop.blocks) {
      std::fill(found.begin() + ptx.blocks[block].first, found.begin() + ptx.blocks[block].last,
                PtxLoop{.number = loop.head + 1, .entries = entries, .turns = turns});
    }
  }
  return found;
}

}  // namespace simgpu::sass
