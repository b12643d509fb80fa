#include "simgpu/model/loop_nest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <utility>

#include "simgpu/model/basic_blocks.h"

namespace simgpu::model {
namespace {

using Nodes = std::vector<std::uint32_t>;

/// Of loops that take turns. What lies deeper is not followed turn by turn: see Step::drains.
constexpr int kMostDepth = 64;

/// A loop that is executed as often as what is around it takes no turn, and is no level.
constexpr double kNoTurn = 1e-3;

/// Basic blocks that follow each other.
struct Node {
  std::vector<Stretch> code;
  double times = 0;  // by a warp
  bool waits = false;
  /// It ends in a branch whose other way nobody took: what follows cannot start before it is known
  /// which way that is.
  bool ends_in_check = false;
  Nodes successors, predecessors;
};

bool waits_for_copies(const InstructionInfo& info) {
  return info.async_step == AsyncStep::wait || info.async_step == AsyncStep::wait_all ||
         info.async_step == AsyncStep::wait_phase;
}

/// A branch of up to so many instructions is taken for one with predicates.
constexpr std::size_t kMostPredicated = 16;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Whether a block has no more than a few results that the assembler can select.
bool only_selects(std::span<const InstructionInfo> program, std::size_t first) {
  const std::size_t last = end_of_block(program, first);
  const auto block = program.subspan(first, last - first);
  return block.size() <= kMostPredicated &&
         std::ranges::all_of(block, [](const InstructionInfo& info) {
           return only_computes(info.cls) || info.cls == InstructionClass::control;
         });
}

/// Whether a branch to a way that nobody took is none in machine code: there are only results on
/// that way, and also on the one that was taken, unless both meet where that begins.
/// @param node_of by first instruction, of what was executed
/// @param taken   the block that was executed
bool is_selected(std::span<const InstructionInfo> program, std::span<const std::uint32_t> node_of,
                 std::size_t not_taken, std::size_t taken) {
  constexpr int kMostBlocks = 4;
  std::size_t at = not_taken;
  for (int i = 0; i < kMostBlocks && at < program.size() && node_of[at] == kNone; ++i) {
    if (!only_selects(program, at) || program[at].leads_to.size() != 1) return false;
    at = program[at].leads_to.front();
  }
  const bool meets = at < program.size() && node_of[at] != kNone;
  return meets && (at == taken || only_selects(program, taken));
}

/// The basic blocks that were executed, and how they lead to each other.
std::vector<Node> executed_blocks(std::span<const InstructionInfo> program,
                                  std::span<const ExecutionCount> executed, double warps) {
  std::vector<Node> nodes;
  std::vector<std::uint32_t> node_of(program.size(), kNone);
  for (std::size_t first = 0; first < program.size();) {
    const std::size_t last = end_of_block(program, first);
    if (const std::uint64_t count = entries(executed, first, last); count != 0) {
      Node node;
      node.waits = std::ranges::any_of(program.subspan(first, last - first), waits_for_copies);
      node.code.push_back({first, last, 1});
      node.times = static_cast<double>(count) / warps;
      node_of[first] = static_cast<std::uint32_t>(nodes.size());
      nodes.push_back(std::move(node));
    }
    first = last;
  }
  for (std::uint32_t from = 0; from < nodes.size(); ++from) {
    Node& node = nodes[from];
    const std::vector<std::uint32_t>& targets = program[node.code.front().first].leads_to;
    for (const std::uint32_t target : targets) {
      const std::uint32_t to = target < program.size() ? node_of[target] : kNone;
      if (to == kNone) continue;
      node.successors.push_back(to);
      nodes[to].predecessors.push_back(from);
    }
    if (node.successors.size() != 1) continue;
    const std::size_t taken = nodes[node.successors.front()].code.front().first;
    node.ends_in_check = std::ranges::any_of(targets, [&](std::uint32_t target) {
      return target != taken && !is_selected(program, node_of, target, taken);
    });
  }
  return nodes;
}

/// Makes one node of what the assembler makes straight code of: blocks that always follow each
/// other, however they are cut, and short branches, whose instructions it gives predicates.
class Joiner {
 public:
  Joiner(std::span<const InstructionInfo> program, std::vector<Node>& nodes)
      : program_(program), nodes_(nodes) {}

  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t head = 0; head < nodes_.size(); ++head) {
        while (join_next(head) || join_arms(head)) changed = true;
      }
    }
  }

 private:
  static constexpr double kSameTimes = 0.99;

  bool has_one(const Nodes& nodes) const { return nodes.size() == 1; }

  /// What follows alone, and follows nothing else.
  bool join_next(std::uint32_t head) {
    Node& node = nodes_[head];
    if (!has_one(node.successors) || node.ends_in_check) return false;
    const std::uint32_t next = node.successors.front();
    if (next == 0 || next == head || !has_one(nodes_[next].predecessors)) return false;
    const double share = nodes_[next].times / node.times;
    if (share < kSameTimes || share > 1 / kSameTimes) return false;
    append(head, next);
    node.successors = std::move(nodes_[next].successors);
    for (const std::uint32_t behind : node.successors) {
      std::ranges::replace(nodes_[behind].predecessors, next, head);
    }
    nodes_[next] = {};
    return true;
  }

  /// Where the node may go two ways, of which one or both are short and end at the same place.
  bool join_arms(std::uint32_t head) {
    if (nodes_[head].successors.size() != 2) return false;
    const Nodes ways = nodes_[head].successors;
    const bool first = is_arm(ways[0], head), second = is_arm(ways[1], head);
    if (first && nodes_[ways[0]].successors.front() == ways[1]) {
      join_arm(head, ways[0], ways[1]);
    } else if (second && nodes_[ways[1]].successors.front() == ways[0]) {
      join_arm(head, ways[1], ways[0]);
    } else if (first && second && nodes_[ways[0]].successors == nodes_[ways[1]].successors) {
      const std::uint32_t meet = nodes_[ways[0]].successors.front();
      join_arm(head, ways[0], meet);
      join_arm(head, ways[1], meet);
    } else {
      return false;
    }
    return true;
  }

  bool is_arm(std::uint32_t arm, std::uint32_t head) const {
    const Node& node = nodes_[arm];
    return arm != head && arm != 0 && has_one(node.predecessors) && has_one(node.successors) &&
           node.successors.front() != head && node.successors.front() != arm &&
           !node.ends_in_check && length_of(node) <= kMostPredicated;
  }

  static bool stores(const InstructionInfo& info) {
    return info.only_stores || is_atomic(info.cls) || info.cls == InstructionClass::global_store ||
           info.cls == InstructionClass::shared_store;
  }

  static std::size_t length_of(const Node& node) {
    std::size_t length = 0;
    for (const Stretch& stretch : node.code) length += stretch.last - stretch.first;
    return length;
  }

  void join_arm(std::uint32_t head, std::uint32_t arm, std::uint32_t meet) {
    for (Stretch& stretch : nodes_[arm].code) {
      const auto code = program_.subspan(stretch.first, stretch.last - stretch.first);
      stretch.stores_if = stretch.stores_if || std::ranges::any_of(code, &stores);
    }
    append(head, arm);
    std::erase(nodes_[meet].predecessors, arm);
    if (std::ranges::find(nodes_[meet].predecessors, head) == nodes_[meet].predecessors.end()) {
      nodes_[meet].predecessors.push_back(head);
    }
    nodes_[head].successors = {meet};
    nodes_[arm] = {};
  }

  void append(std::uint32_t head, std::uint32_t next) {
    Node& node = nodes_[head];
    const double share = std::min(1.0, nodes_[next].times / node.times);
    for (Stretch stretch : nodes_[next].code) {
      stretch.probability *= share;
      node.code.push_back(stretch);
    }
    node.waits = node.waits || nodes_[next].waits;
    node.ends_in_check = nodes_[next].ends_in_check;
  }

  std::span<const InstructionInfo> program_;
  std::vector<Node>& nodes_;
};

/// Strongly connected components: Tarjan's algorithm, without recursion.
class Components {
 public:
  explicit Components(const std::vector<Node>& nodes) : nodes_(nodes), state_(nodes.size()) {}

  /// Of some of the nodes alone, each component behind those that lead to it. Takes as long as
  /// these have edges, however many other nodes there are.
  std::vector<Nodes> of(const Nodes& members) {
    for (const std::uint32_t node : members) state_[node] = {.member = true};
    for (const std::uint32_t node : members) {
      if (state_[node].number == 0) visit(node);
    }
    for (const std::uint32_t node : members) state_[node].member = false;
    std::ranges::reverse(found_);
    for (Nodes& component : found_) std::ranges::sort(component);
    return std::exchange(found_, {});
  }

 private:
  struct State {
    bool member = false, open = false;
    std::uint32_t number = 0, low = 0;
  };
  struct Visit {
    std::uint32_t node;
    std::size_t next;
  };

  void enter(std::uint32_t node) {
    State& state = state_[node];
    state.number = state.low = ++numbers_;
    state.open = true;
    open_.push_back(node);
    visits_.push_back({node, 0});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!visits_.empty()) {
      auto& [node, next] = visits_.back();
      if (next < nodes_[node].successors.size()) {
        const std::uint32_t to = nodes_[node].successors[next++];
        if (!state_[to].member) continue;
        if (state_[to].number == 0) {
          enter(to);
        } else if (state_[to].open) {
          state_[node].low = std::min(state_[node].low, state_[to].number);
        }
        continue;
      }
      const std::uint32_t done = node;
      visits_.pop_back();
      if (!visits_.empty()) {
        State& parent = state_[visits_.back().node];
        parent.low = std::min(parent.low, state_[done].low);
      }
      if (state_[done].low == state_[done].number) close(done);
    }
  }

  void close(std::uint32_t root) {
    Nodes component;
    std::uint32_t node = 0;
    do {
      node = open_.back();
      open_.pop_back();
      state_[node].open = false;
      component.push_back(node);
    } while (node != root);
    found_.push_back(std::move(component));
  }

  const std::vector<Node>& nodes_;
  std::vector<State> state_;
  Nodes open_;
  std::vector<Visit> visits_;
  std::uint32_t numbers_ = 0;
  std::vector<Nodes> found_;
};

/// The member by which a loop is entered from elsewhere; the first of several.
std::uint32_t head_of(const std::vector<Node>& nodes, const Nodes& loop) {
  for (const std::uint32_t node : loop) {
    if (node == 0) return node;
    for (const std::uint32_t from : nodes[node].predecessors) {
      if (!std::ranges::binary_search(loop, from)) return node;
    }
  }
  return loop.front();
}

/// Whether a component is a loop: one node alone may be none.
bool is_loop(const std::vector<Node>& nodes, const Nodes& component, std::uint32_t head) {
  const Nodes& successors = nodes[head].successors;
  return component.size() > 1 || std::ranges::find(successors, head) != successors.end();
}

/// Makes steps of nodes, each component behind those that lead to it.
class Nest {
 public:
  Nest(const std::vector<Node>& nodes, Components& components)
      : nodes_(nodes), components_(components) {}

  /// @param turns of what is around them
  std::vector<Step> steps_of(const Nodes& members, double turns, int depth) {
    std::vector<Step> steps;
    // Parts that are still to come, the next one last: loops without turns have been opened.
    std::vector<Nodes> parts = reversed(components_.of(members));
    while (!parts.empty()) {
      Nodes part = std::move(parts.back());
      parts.pop_back();
      const std::uint32_t head = head_of(nodes_, part);
      const double times = nodes_[head].times / turns;
      const bool loops = is_loop(nodes_, part, head);
      if (loops && std::abs(times - 1) > kNoTurn) {
        steps.push_back(loop_of(std::move(part), head, times, depth));
        continue;
      }
      steps.push_back(straight(head, times));
      if (!loops) continue;
      std::erase(part, head);
      opened_ += part.size();
      if (opened_ > kMostOpened) {
        append_drained(steps, part, turns);
        continue;
      }
      std::ranges::move(reversed(components_.of(part)), std::back_inserter(parts));
    }
    return steps;
  }

 private:
  static std::vector<Nodes> reversed(std::vector<Nodes> parts) {
    std::ranges::reverse(parts);
    return parts;
  }

  Step straight(std::uint32_t node, double times) const {
    return {times, nodes_[node].code, {}, nodes_[node].waits};
  }

  Step loop_of(Nodes component, std::uint32_t head, double times, int depth) {
    const double turns = nodes_[head].times;
    Step loop{times, {}, {}};
    loop.body.push_back(straight(head, 1));
    std::erase(component, head);
    if (depth < kMostDepth) {
      std::ranges::move(steps_of(component, turns, depth + 1), std::back_inserter(loop.body));
    } else {
      loop.body.front().drains = true;
      append_drained(loop.body, component, turns);
    }
    loop.waits = std::ranges::any_of(loop.body, &Step::waits);
    return loop;
  }

  /// Code of which nobody has found what loops it is in.
  void append_drained(std::vector<Step>& steps, const Nodes& members, double turns) const {
    for (const std::uint32_t node : members) {
      steps.push_back(straight(node, nodes_[node].times / turns));
      steps.back().drains = true;
    }
  }

  /// Blocks of loops without turns that are looked at again for the loops in them. No compiler's
  /// code has so many; code that jumps about at random would take the square of its length.
  static constexpr std::size_t kMostOpened = 1 << 20;

  const std::vector<Node>& nodes_;
  Components& components_;
  std::size_t opened_ = 0;
};

/// Finds all loops, one level after the other.
class LoopFinder {
 public:
  explicit LoopFinder(const std::vector<Node>& nodes) : nodes_(nodes), components_(nodes) {}

  std::optional<std::vector<Loop>> run() {
    Nodes all(nodes_.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<Nodes> open = {std::move(all)};
    while (!open.empty()) {
      const Nodes members = std::move(open.back());
      open.pop_back();
      for (Nodes& component : components_.of(members)) {
        const std::uint32_t head = head_of(nodes_, component);
        if (!is_loop(nodes_, component, head)) continue;
        add_ways_back(component, head);
        add(component, head);
        std::erase(component, head);
        open.push_back(std::move(component));
        if (blocks_ >= kMostBlocks) return std::nullopt;
      }
    }
    std::ranges::stable_sort(loops_, {}, [](const Loop& loop) { return loop.blocks.size(); });
    return std::move(loops_);
  }

 private:
  /// That are looked at for all loops together.
  static constexpr std::size_t kMostBlocks = 1 << 20;

  /// The loops that go back to the head from one block each, but for the component itself.
  void add_ways_back(const Nodes& component, std::uint32_t head) {
    for (const std::uint32_t from : nodes_[head].predecessors) {
      if (!std::ranges::binary_search(component, from) || blocks_ >= kMostBlocks) continue;
      Nodes way = {head};
      std::unordered_set<std::uint32_t> reached = {head};
      const auto reach = [&](std::uint32_t node) {
        if (std::ranges::binary_search(component, node) && reached.insert(node).second) {
          way.push_back(node);
        }
      };
      reach(from);
      for (std::size_t i = 1; i < way.size(); ++i) {
        std::ranges::for_each(nodes_[way[i]].predecessors, reach);
      }
      blocks_ += way.size();
      std::ranges::sort(way);
      if (way.size() < component.size()) add(way, head);
    }
  }

  void add(const Nodes& members, std::uint32_t head) {
    const auto begin_of = [&](std::uint32_t node) { return nodes_[node].code.front().first; };
    Loop loop{.blocks = {}, .head = begin_of(head), .before = {}};
    for (const std::uint32_t node : members) loop.blocks.push_back(begin_of(node));
    for (const std::uint32_t from : nodes_[head].predecessors) {
      if (!std::ranges::binary_search(members, from)) loop.before.push_back(begin_of(from));
    }
    blocks_ += members.size();
    loops_.push_back(std::move(loop));
  }

  const std::vector<Node>& nodes_;
  Components components_;
  std::vector<Loop> loops_;
  std::size_t blocks_ = 0;
};

}  // namespace

std::optional<std::vector<Loop>> find_loops(std::span<const InstructionInfo> program,
                                            std::span<const ExecutionCount> executed) {
  const std::vector<Node> nodes = executed_blocks(program, executed, 1);
  return LoopFinder(nodes).run();
}

std::vector<Step> find_steps(std::span<const InstructionInfo> program,
                             std::span<const ExecutionCount> executed, double warps) {
  std::vector<Node> nodes = executed_blocks(program, executed, warps);
  Joiner(program, nodes).run();
  Nodes all;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    if (!nodes[node].code.empty()) all.push_back(node);
  }
  Components components(nodes);
  return Nest(nodes, components).steps_of(all, 1, 0);
}

}  // namespace simgpu::model
