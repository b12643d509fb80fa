#include "simgpu/sass/control_flow.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace simgpu::sass {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;

std::uint32_t index_of(std::uint64_t address) {
  return static_cast<std::uint32_t>(address / kInstructionBytes);
}

/// Where control goes in the same function: from a call to behind it, and not back to callers.
std::vector<std::uint32_t> within_function(const BasicBlock& block) {
  std::vector<std::uint32_t> next = block.leads_to;
  std::erase_if(next, [&](std::uint32_t to) {
    return std::ranges::find(block.returns_to, to) != block.returns_to.end();
  });
  if (!block.call) return next;
  std::erase(next, block.call->function);
  if (std::ranges::find(next, block.call->behind) == next.end()) next.push_back(block.call->behind);
  return next;
}

/// Finds where control goes, instruction by instruction, and cuts the code accordingly.
class BlockCutter {
 public:
  explicit BlockCutter(const KernelCode& code)
      : code_(code.instructions), jump_tables_(code.jump_tables) {}

  std::vector<BasicBlock> blocks() {
    find_leaders();
    cut();
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) connect(i);
    connect_returns();
    return reachable();
  }

 private:
  const Instruction& last_of(std::uint32_t block) const { return code_[blocks_[block].last - 1]; }

  void find_leaders() {
    leaders_.insert(0);
    for (const auto& [jump, targets] : jump_tables_) {
      for (const std::uint64_t target : targets) leaders_.insert(index_of(target));
    }
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      const Instruction& instruction = code_[i];
      if (instruction.target) leaders_.insert(index_of(*instruction.target));
      if (instruction.flow == Flow::scope) {
        scopes_[instruction.convergence_barrier].insert(index_of(*instruction.target));
      } else if (instruction.flow != Flow::next) {
        leaders_.insert(i + 1);
      }
    }
  }

  void cut() {
    const auto size = static_cast<std::uint32_t>(code_.size());
    block_at_.assign(code_.size(), kNone);
    for (auto leader = leaders_.begin(); leader != leaders_.end() && *leader < size; ++leader) {
      const auto next = std::next(leader);
      const std::uint32_t last = next == leaders_.end() ? size : std::min(*next, size);
      block_at_[*leader] = static_cast<std::uint32_t>(blocks_.size());
      blocks_.push_back({.first = *leader, .last = last, .leads_to = {}});
    }
  }

  void lead(std::uint32_t from, std::uint32_t instruction) {
    if (instruction >= code_.size()) return;
    blocks_[from].leads_to.push_back(block_at_[instruction]);
  }

  void connect(std::uint32_t block) {
    const std::uint32_t next = blocks_[block].last;
    const Instruction& last = last_of(block);
    switch (last.flow) {
      case Flow::branch:
      case Flow::call:
        lead(block, index_of(*last.target));
        if (last.is_conditional) lead(block, next);
        return;
      case Flow::collective:
        lead(block, index_of(*last.target));
        lead(block, next);
        return;
      case Flow::indirect: {
        // Without a table nobody knows where, and nothing is aligned in which it is executed.
        const auto table = jump_tables_.find(last.address);
        if (table == jump_tables_.end()) return;
        for (const std::uint64_t target : table->second) lead(block, index_of(target));
        if (last.is_conditional) lead(block, next);
        return;
      }
      case Flow::exit:
        blocks_[block].may_end = true;
        if (last.is_conditional) lead(block, next);
        return;
      case Flow::ret:
        if (last.is_conditional) lead(block, next);
        return;
      case Flow::reconverge:
        connect_reconvergence(block, next);
        return;
      default:
        lead(block, next);
    }
  }

  /// ptxas puts the code at which lanes meet behind the BSYNC of one of the ways to it. Elsewhere
  /// it is one of those that a BSSY of the barrier names.
  void connect_reconvergence(std::uint32_t block, std::uint32_t next) {
    const Instruction& last = last_of(block);
    const std::set<std::uint32_t>& targets = scopes_[last.convergence_barrier];
    if (targets.empty() || targets.contains(next)) {
      lead(block, next);
      return;
    }
    for (const std::uint32_t target : targets) lead(block, target);
    if (last.is_conditional) lead(block, next);
  }

  /// Behind each call there come the returns of what it calls.
  void connect_returns() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> behind_calls;  // by the function's block
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      const Instruction& last = last_of(i);
      if (last.flow != Flow::call || blocks_[i].last >= code_.size()) continue;
      const std::uint32_t function = block_at_[index_of(*last.target)];
      const std::uint32_t behind = block_at_[blocks_[i].last];
      behind_calls[function].push_back(behind);
      blocks_[i].call = {.function = function, .behind = behind};
    }
    std::map<std::uint32_t, std::set<std::uint32_t>> returns;
    for (const auto& [function, behind] : behind_calls) returns[function] = returns_of(function);
    // ptxas also jumps far by a CALL, to code that never returns.
    for (BasicBlock& block : blocks_) {
      if (block.call && returns[block.call->function].empty()) block.call.reset();
    }
    for (const auto& [function, behind] : behind_calls) {
      for (const std::uint32_t block : returns[function]) {
        BasicBlock& returning = blocks_[block];
        returning.returns_to.insert(returning.returns_to.end(), behind.begin(), behind.end());
        returning.leads_to.insert(returning.leads_to.end(), behind.begin(), behind.end());
      }
    }
    for (BasicBlock& block : blocks_) {
      std::ranges::sort(block.leads_to);
      const auto rest = std::ranges::unique(block.leads_to);
      block.leads_to.erase(rest.begin(), rest.end());
    }
  }

  /// Its own, not those of functions that it calls.
  std::set<std::uint32_t> returns_of(std::uint32_t function) const {
    std::set<std::uint32_t> reached{function}, returns;
    std::vector<std::uint32_t> left{function};
    while (!left.empty()) {
      const std::uint32_t block = left.back();
      left.pop_back();
      if (last_of(block).flow == Flow::ret) returns.insert(block);
      for (const std::uint32_t next : within_function(blocks_[block])) {
        if (reached.insert(next).second) left.push_back(next);
      }
    }
    return returns;
  }

  std::set<std::uint32_t> reached_from(std::uint32_t first) const {
    std::set<std::uint32_t> reached{first};
    std::vector<std::uint32_t> left{first};
    while (!left.empty()) {
      const std::uint32_t block = left.back();
      left.pop_back();
      for (const std::uint32_t next : blocks_[block].leads_to) {
        if (reached.insert(next).second) left.push_back(next);
      }
    }
    return reached;
  }

  std::vector<BasicBlock> reachable() const {
    const std::set<std::uint32_t> reached = reached_from(0);
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (const std::uint32_t block : reached)
      numbers.emplace(block, static_cast<std::uint32_t>(numbers.size()));
    std::vector<BasicBlock> kept;
    for (const std::uint32_t block : reached) {
      kept.push_back(blocks_[block]);
      for (std::uint32_t& next : kept.back().leads_to) next = numbers.at(next);
      for (std::uint32_t& next : kept.back().returns_to) next = numbers.at(next);
      std::optional<BasicBlock::Call>& call = kept.back().call;
      if (!call) continue;
      if (reached.contains(call->behind)) {
        call = {.function = numbers.at(call->function), .behind = numbers.at(call->behind)};
      } else {
        call.reset();  // of what never returns
      }
    }
    return kept;
  }

  const std::vector<Instruction>& code_;
  const std::map<std::uint64_t, std::vector<std::uint64_t>>& jump_tables_;
  std::set<std::uint32_t> leaders_;
  std::map<unsigned, std::set<std::uint32_t>> scopes_;  ///< by convergence barrier
  std::vector<std::uint32_t> block_at_;                 ///< by first instruction
  std::vector<BasicBlock> blocks_;
};

using Lists = std::vector<std::vector<std::uint32_t>>;

/// Where each block leads to in its function. The entry leads to all functions, which makes each
/// of them a part of its own.
Lists ways_of(const std::vector<BasicBlock>& blocks) {
  Lists after(blocks.size());
  for (std::uint32_t i = 0; i < blocks.size(); ++i) after[i] = within_function(blocks[i]);
  for (const BasicBlock& block : blocks) {
    if (block.call && block.call->function != 0) after[0].push_back(block.call->function);
  }
  for (std::vector<std::uint32_t>& one : after) {
    std::ranges::sort(one);
    const auto rest = std::ranges::unique(one);
    one.erase(rest.begin(), rest.end());
  }
  return after;
}

Lists predecessors_of(const Lists& after) {
  Lists before(after.size());
  for (std::uint32_t i = 0; i < after.size(); ++i) {
    for (const std::uint32_t next : after[i]) before[next].push_back(i);
  }
  return before;
}

/// Blocks so that each comes before those that it leads to, ways back left out.
std::vector<std::uint32_t> in_order(const Lists& after) {
  std::vector<std::uint32_t> order;
  std::vector<char> seen(after.size());
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{0, 0}};
  seen[0] = 1;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == after[block].size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::uint32_t to = after[block][next++];
    if (seen[to] != 0) continue;
    seen[to] = 1;
    stack.emplace_back(to, 0);
  }
  std::ranges::reverse(order);
  return order;
}

/// The nearest block through which every way to a block goes (Cooper, Harvey and Kennedy, "A
/// Simple, Fast Dominance Algorithm", 2001).
class Dominators {
 public:
  Dominators(const Lists& after, const Lists& before)
      : rank_(after.size()), above_(after.size(), kNone) {
    const std::vector<std::uint32_t> order = in_order(after);
    for (std::uint32_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
    above_[0] = 0;
    for (bool changes = true; changes;) {
      changes = false;
      for (const std::uint32_t block : order) {
        if (block != 0) changes = update(block, before[block]) || changes;
      }
    }
  }

  /// Whether any way leads to it.
  bool knows(std::uint32_t block) const { return above_[block] != kNone; }

  bool dominates(std::uint32_t above, std::uint32_t block) const {
    while (rank_[block] > rank_[above]) block = above_[block];
    return block == above;
  }

 private:
  bool update(std::uint32_t block, const std::vector<std::uint32_t>& before) {
    std::uint32_t found = kNone;
    for (const std::uint32_t one : before) {
      if (above_[one] != kNone) found = found == kNone ? one : meet(one, found);
    }
    if (above_[block] == found) return false;
    above_[block] = found;
    return true;
  }

  std::uint32_t meet(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (rank_[a] > rank_[b]) a = above_[a];
      while (rank_[b] > rank_[a]) b = above_[b];
    }
    return a;
  }

  std::vector<std::uint32_t> rank_, above_;
};

}  // namespace

std::vector<BasicBlock> basic_blocks(const KernelCode& code) {
  if (!code.why_not.empty() || code.instructions.empty()) return {};
  return BlockCutter(code).blocks();
}

std::vector<Loop> find_loops(const std::vector<BasicBlock>& blocks) {
  if (blocks.empty()) return {};
  const Lists after = ways_of(blocks);
  const Lists before = predecessors_of(after);
  const Dominators dominators(after, before);
  std::map<std::uint32_t, std::set<std::uint32_t>> by_head;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    if (!dominators.knows(i)) continue;
    for (const std::uint32_t head : after[i]) {
      if (!dominators.dominates(head, i)) continue;
      std::set<std::uint32_t>& loop = by_head[head];
      loop.insert(head);
      std::vector<std::uint32_t> left{i};
      while (!left.empty()) {
        const std::uint32_t block = left.back();
        left.pop_back();
        if (!loop.insert(block).second) continue;
        left.insert(left.end(), before[block].begin(), before[block].end());
      }
    }
  }
  std::vector<Loop> loops;
  for (const auto& [head, body] : by_head)
    loops.push_back({.head = head, .blocks = {body.begin(), body.end()}});
  std::ranges::stable_sort(loops, {}, [](const Loop& loop) { return loop.blocks.size(); });
  return loops;
}

}  // namespace simgpu::sass
