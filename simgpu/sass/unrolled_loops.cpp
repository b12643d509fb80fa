#include "simgpu/sass/unrolled_loops.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "simgpu/sass/anchors.h"

namespace simgpu::sass {
namespace {

/// Copies of the body of a loop of PTX, in a loop of machine code or in straight code.
struct Copies {
  PtxLoop of;
  unsigned number = 0;
  std::uint32_t block = 0;  ///< that they are in, or the head
  bool is_loop = false;
  /// Of a loop of machine code: more turns it cannot take. Where a loop of PTX lies in another and
  /// all of its turns are unrolled, the other one's are meant.
  double most_turns = 0;
};

/// How many copies of which loop of PTX some blocks have: by the instruction that is there most
/// often. @param others loops of PTX that are not meant
Copies copies_in(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                 const std::vector<std::uint32_t>& some, const std::set<std::uint32_t>& others,
                 const PtxCounts& counts) {
  std::map<std::pair<std::uint32_t, unsigned>, unsigned> seen;
  std::map<std::uint32_t, std::pair<double, unsigned>> loops;  // turns and copies, by number
  Copies most;
  for (const std::uint32_t block : some) {
    for (std::uint32_t at = blocks[block].first; at < blocks[block].last; ++at) {
      const Instruction& instruction = code.instructions[at];
      const auto line = counts.lines.find(instruction.ptx_line);
      if (line == counts.lines.end() || line->second.loop.entries == 0) continue;
      if (others.contains(line->second.loop.number)) continue;
      if (anchor_weight(instruction, line->second) < kLikely) continue;
      const unsigned number = ++seen[{instruction.ptx_line, instruction.opcode}];
      auto& [turns, copies] = loops[line->second.loop.number];
      turns = line->second.loop.turns;
      copies = std::max(copies, number);
      if (number > most.number) {
        most.of = line->second.loop;
        most.number = number;
      }
    }
  }
  for (const auto& [number, loop] : loops) {
    most.most_turns = std::max(most.most_turns, loop.first / loop.second);
  }
  return most;
}

/// By the number of the loop of PTX.
using ByLoop = std::map<std::uint32_t, std::vector<Copies>>;

/// ptxas makes a second copy of what follows a shuffle for where its lanes part. In it a function
/// shuffles that all such places call, or, from capability 9.0 on, some lanes do while the others
/// wait. One of the two copies is executed in a turn, so that they are no copies of several turns.
bool is_copied_for_parted_lanes(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                                const Loop& loop, const std::map<std::uint32_t, unsigned>& calls) {
  return std::ranges::any_of(loop.blocks, [&](std::uint32_t block) {
    const auto& call = blocks[block].call;
    if (call) return calls.at(call->function) > 1;
    return code.instructions[blocks[block].last - 1].flow == Flow::collective;
  });
}

/// By the function's block, how many places call it.
std::map<std::uint32_t, unsigned> count_calls(const std::vector<BasicBlock>& blocks) {
  std::map<std::uint32_t, unsigned> calls;
  for (const BasicBlock& block : blocks) {
    if (block.call) ++calls[block.call->function];
  }
  return calls;
}

ByLoop find_copies(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                   const std::vector<Loop>& loops, const PtxCounts& counts) {
  ByLoop found;
  std::vector<std::uint32_t> copied(blocks.size());  // of which loop of PTX its own loop has copies
  std::vector<char> is_inside(blocks.size());
  const std::map<std::uint32_t, unsigned> calls = count_calls(blocks);
  for (const Loop& loop : loops) {
    if (is_copied_for_parted_lanes(code, blocks, loop, calls)) continue;
    std::vector<std::uint32_t> body;
    std::set<std::uint32_t> inner;  // what is left over of their turns may be in this loop
    for (const std::uint32_t block : loop.blocks) {
      if (is_inside[block] != 0) inner.insert(copied[block]);
      if (is_inside[block] == 0) body.push_back(block);
      is_inside[block] = 1;
    }
    Copies copies = copies_in(code, blocks, body, inner, counts);
    for (const std::uint32_t block : body) copied[block] = copies.of.number;
    copies.block = loop.head;
    copies.is_loop = true;
    if (copies.number > 0) found[copies.of.number].push_back(copies);
  }
  for (std::uint32_t block = 0; block < blocks.size(); ++block) {
    Copies copies = copies_in(code, blocks, {block}, {copied[block]}, counts);
    copies.block = block;
    if (copies.number > 1) found[copies.of.number].push_back(copies);
  }
  return found;
}

}  // namespace

std::vector<CopiedTurns> find_copied_turns(const KernelCode& code,
                                           const std::vector<BasicBlock>& blocks,
                                           const std::vector<Loop>& loops,
                                           const PtxCounts& counts) {
  constexpr double kRounding = 1e-3;  // of the counts of a sampled launch
  std::vector<CopiedTurns> found;
  for (auto& [number, all] : find_copies(code, blocks, loops, counts)) {
    std::ranges::stable_sort(all, std::greater(), &Copies::number);
    // The more copies, the earlier: what is left goes on to where there are fewer.
    double left = all.front().of.turns;
    for (std::size_t i = 0; i < all.size();) {
      const Copies& first = all[i];
      const double whole = std::floor(left / first.number + kRounding);
      const double turns = first.is_loop ? whole : std::min(whole, 1.0);
      for (; i < all.size() && all[i].number == first.number; ++i) {
        const Copies& copies = all[i];
        CopiedTurns& one = found.emplace_back();
        one.block = copies.block;
        one.copies = copies.number;
        if (copies.is_loop) one.turns = copies.most_turns;
        if (copies.number > 1)
          one.threads = copies.of.entries * (copies.is_loop ? whole : std::min(whole, 1.0));
      }
      left -= turns * first.number;
    }
  }
  return found;
}

}  // namespace simgpu::sass
