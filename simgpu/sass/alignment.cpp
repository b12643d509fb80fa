#include "simgpu/sass/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "simgpu/sass/anchors.h"
#include "simgpu/sass/coverage.h"
#include "simgpu/sass/least_deviation.h"
#include "simgpu/sass/unrolled_loops.h"

namespace simgpu::sass {
namespace {

/// Of an instruction in its block: too little to outweigh any anchor.
constexpr double kCostOfAnInstruction = 1e-6;
/// Of a predicated copy that counts, for each unit of its anchor's weight: less than what does not
/// add up, and more than instructions.
constexpr double kCostOfAPredicate = 0.01;
constexpr const char* kNoWorkLeft =
    "launches before it have used up the work that aligning may take";
/// What may be left over where ptxas has computed something once that the program computes again.
constexpr double kMostDeviation = 0.02;

/// The ways along which threads leave each block, as unknowns.
class ThreadFlow {
 public:
  explicit ThreadFlow(const std::vector<BasicBlock>& blocks) : blocks_(blocks) {
    for (const BasicBlock& block : blocks) {
      const bool ends = block.may_end || block.leads_to.empty();
      first_.push_back(size_);
      size_ += static_cast<std::uint32_t>(block.leads_to.size()) + (ends ? 1 : 0);
    }
    first_.push_back(size_);
  }

  std::uint32_t size() const { return size_; }

  /// What comes in is what goes out.
  std::vector<Equation> conservation(double weight) const {
    std::vector<Equation> equations(blocks_.size());
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      equations[i].weight = weight;
      equations[i].value = i == 0 ? 1 : 0;
      for (std::uint32_t way = first_[i]; way < first_[i + 1]; ++way)
        equations[i].terms.push_back({way, 1});
      for (std::size_t k = 0; k < blocks_[i].leads_to.size(); ++k) {
        equations[blocks_[i].leads_to[k]].terms.push_back(
            {first_[i] + static_cast<std::uint32_t>(k), -1});
      }
    }
    return equations;
  }

  /// Behind a call as many threads come back as have called there.
  std::vector<Equation> calls(double weight) const {
    std::map<std::uint32_t, Equation> behind;  // by the block that is there
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      if (!blocks_[i].call) continue;
      behind[blocks_[i].call->behind].weight = weight;
      add_way(i, blocks_[i].call->function, 1, behind[blocks_[i].call->behind]);
    }
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      for (const std::uint32_t to : blocks_[i].returns_to) {
        behind[to].weight = weight;
        add_way(i, to, -1, behind[to]);
      }
    }
    std::vector<Equation> equations;
    for (auto& [block, equation] : behind) equations.push_back(std::move(equation));
    return equations;
  }

  /// How often copies are executed together.
  std::vector<Equation::Term> sum_of(const Anchor::Copies& copies) const {
    std::vector<Equation::Term> terms;
    for (const auto& [block, number] : copies) {
      for (std::uint32_t way = first_[block]; way < first_[block + 1]; ++way)
        terms.push_back({way, static_cast<double>(number)});
    }
    return terms;
  }

  /// Those by which it is entered.
  std::vector<std::uint32_t> ways_into(const Loop& loop) const {
    std::vector<std::uint32_t> ways;
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      if (std::ranges::binary_search(loop.blocks, i)) continue;
      for (std::uint32_t k = 0; k < blocks_[i].leads_to.size(); ++k) {
        if (blocks_[i].leads_to[k] != loop.head) continue;
        if (!is_called_in(loop, blocks_[i])) ways.push_back(first_[i] + k);
      }
    }
    return ways;
  }

  std::vector<double> costs() const {
    std::vector<double> costs(size_);
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      const auto instructions = static_cast<double>(blocks_[i].last - blocks_[i].first);
      std::fill(costs.begin() + first_[i], costs.begin() + first_[i + 1],
                instructions * kCostOfAnInstruction);
    }
    return costs;
  }

  /// How often each block is executed.
  std::vector<double> executed(const std::vector<double>& ways) const {
    std::vector<double> executed(blocks_.size());
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      for (std::uint32_t way = first_[i]; way < first_[i + 1]; ++way) executed[i] += ways[way];
    }
    return executed;
  }

 private:
  void add_way(std::uint32_t from, std::uint32_t to, double coefficient, Equation& equation) const {
    for (std::uint32_t k = 0; k < blocks_[from].leads_to.size(); ++k) {
      if (blocks_[from].leads_to[k] == to)
        equation.terms.push_back({first_[from] + k, coefficient});
    }
  }

  /// Whether a block returns to the loop's head from a call in the loop.
  bool is_called_in(const Loop& loop, const BasicBlock& block) const {
    if (std::ranges::find(block.returns_to, loop.head) == block.returns_to.end()) return false;
    return std::ranges::any_of(loop.blocks, [&](std::uint32_t one) {
      return blocks_[one].call && blocks_[one].call->behind == loop.head;
    });
  }

  const std::vector<BasicBlock>& blocks_;
  std::vector<std::uint32_t> first_;
  std::uint32_t size_ = 0;
};

/// Warps for each thread that executes the block, as in the PTX that most of it was made of.
double warps_per_thread(const KernelCode& code, const BasicBlock& block, const PtxCounts& counts) {
  std::map<double, unsigned> votes, of_guarded;
  for (std::uint32_t at = block.first; at < block.last; ++at) {
    const Instruction& instruction = code.instructions[at];
    const auto line = counts.lines.find(instruction.ptx_line);
    if (line == counts.lines.end() || line->second.block_threads == 0) continue;
    const bool may_be_elsewhere =
        !instruction.predicate.is_always() && instruction.flow == Flow::next;
    if (may_be_elsewhere && !line->second.is_guarded) continue;
    ++(may_be_elsewhere ? of_guarded
                        : votes)[line->second.block_warps / line->second.block_threads];
  }
  constexpr double kWholeWarp = 1.0 / 32;
  if (votes.empty()) votes = of_guarded;
  if (votes.empty()) return kWholeWarp;
  return std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first;
}

double value_of(const Equation& equation, const std::vector<double>& ways) {
  double value = 0;
  for (const Equation::Term& term : equation.terms) value += term.coefficient * ways[term.unknown];
  return value;
}

struct Deviations {
  double flow = 0;     ///< of threads that come from nowhere or go there, over all threads
  double certain = 0;  ///< of anchors that are certain, over all that these execute
  double all = 0;      ///< of anchors, by weight
};

/// @param equations those of the flow, those of the anchors, and others
Deviations deviations(const std::vector<Equation>& equations, std::size_t of_flow,
                      std::size_t of_anchors, const std::vector<double>& ways) {
  Deviations found;
  double certain = 0, all = 0;
  for (std::size_t i = 0; i < of_flow + of_anchors; ++i) {
    const Equation& equation = equations[i];
    const double deviation = std::abs(value_of(equation, ways) - equation.value);
    if (i < of_flow) {
      found.flow = std::max(found.flow, deviation);
      continue;
    }
    if (equation.weight < kLikely) continue;
    all += equation.weight * equation.value;
    found.all += equation.weight * deviation;
    if (equation.weight < kCertain) continue;
    certain += equation.value;
    found.certain += deviation;
  }
  constexpr double kLeast = 1e-3;  // of what hardly any thread executes, rounding is no deviation
  found.all /= std::max(all, kLeast);
  found.certain /= std::max(certain, kLeast);
  return found;
}

std::string objection_to(const Deviations& found) {
  constexpr double kMostLost = 1e-4;
  if (!(found.flow <= kMostLost)) return "its control flow does not carry the threads of the PTX";
  if (!(found.certain <= kMostLost))
    return fmt::format(
        "{:.1f} % of its stores, barriers and shuffles are not where the PTX has them",
        100 * found.certain);
  if (!(found.all <= kMostDeviation))
    return fmt::format("{:.1f} % of what tells where code was copied to disagrees",
                       100 * found.all);
  return {};
}

/// The equations of a launch, and what its unknowns cost. Those of the ways come first, then what
/// predicated copies do, and do not do, of what they could.
struct Problem {
  std::vector<Equation> equations;
  std::vector<double> costs;
};

/// More than all anchors together could gain by threads that come from nowhere.
double weight_of_flow(const std::vector<Anchor>& anchors) {
  double weight = 1;
  for (const Anchor& anchor : anchors) {
    unsigned most = 1;
    for (const auto& [block, number] : anchor.copies) most = std::max(most, number);
    weight += 2 * anchor.weight * most;
  }
  return weight;
}

/// sum of `terms` <= value. @param cost of what is missing to it
void add_limit(std::vector<Equation::Term> terms, double value, double weight, double cost,
               Problem& problem) {
  terms.push_back({static_cast<std::uint32_t>(problem.costs.size()), 1});
  problem.costs.push_back(cost);
  problem.equations.push_back({.terms = std::move(terms), .value = value, .weight = weight});
}

/// Copies are there to be used, as far as there are whole turns of all of them.
void use_copies(const ThreadFlow& flow, const std::vector<CopiedTurns>& all, double threads,
                Problem& problem) {
  for (const CopiedTurns& turns : all) {
    if (!turns.threads) continue;
    add_limit(flow.sum_of({{turns.block, 1}}), *turns.threads / threads, kCertain * turns.copies,
              kLikely * turns.copies / 2, problem);
  }
}

/// Nobody goes round a loop without having entered it, nor more often than in PTX. Of loops that
/// nothing is known of, none turns more often than any block of PTX is entered.
void limit_loops(const ThreadFlow& flow, const std::vector<Loop>& loops,
                 const std::vector<CopiedTurns>& all, const PtxCounts& counts, Problem& problem) {
  constexpr double kRounding = 1.001;  // of the counts of a sampled launch
  double most = 1;
  for (const auto& [number, line] : counts.lines)
    most = std::max(most, line.block_threads / counts.threads);
  for (const Loop& loop : loops) {
    const auto known = std::ranges::find_if(
        all, [&](const CopiedTurns& one) { return one.block == loop.head && one.turns > 0; });
    const double turns = known == all.end() ? most : std::max(1.0, known->turns * kRounding);
    std::vector<Equation::Term> terms = flow.sum_of({{loop.head, 1}});
    for (const std::uint32_t way : flow.ways_into(loop)) terms.push_back({way, -turns});
    add_limit(std::move(terms), 0, problem.equations.front().weight, 0, problem);
  }
}

Problem problem_of(const ThreadFlow& flow, const std::vector<Anchor>& anchors, double threads) {
  const double certain = weight_of_flow(anchors);
  Problem problem{.equations = flow.conservation(certain), .costs = flow.costs()};
  std::vector<Equation> limits;
  for (const Anchor& anchor : anchors) {
    Equation& equation =
        problem.equations.emplace_back(Equation{.terms = flow.sum_of(anchor.copies),
                                                .value = anchor.threads / threads,
                                                .weight = anchor.weight});
    if (anchor.is_at_least) {
      for (Equation::Term& term : equation.terms) term.coefficient *= anchor.times;
      const std::vector<Equation::Term> predicated = flow.sum_of(anchor.predicated);
      equation.terms.insert(equation.terms.end(), predicated.begin(), predicated.end());
      equation.terms.push_back({static_cast<std::uint32_t>(problem.costs.size()), -1});
      problem.costs.push_back(0);  // more of it than it needs
      continue;
    }
    if (anchor.predicated.empty()) continue;
    const auto done = static_cast<std::uint32_t>(problem.costs.size());
    const std::uint32_t left_out = done + 1;
    problem.costs.insert(problem.costs.end(), {anchor.weight * kCostOfAPredicate, 0});
    equation.terms.push_back({done, 1});
    Equation& limit = limits.emplace_back(
        Equation{.terms = flow.sum_of(anchor.predicated), .value = 0, .weight = certain});
    limit.terms.insert(limit.terms.end(), {{done, -1}, {left_out, -1}});
  }
  problem.equations.insert(problem.equations.end(), limits.begin(), limits.end());
  const std::vector<Equation> calls = flow.calls(certain);
  problem.equations.insert(problem.equations.end(), calls.begin(), calls.end());
  return problem;
}

/// Whether lines were executed whose code other sections have: functions that are called by their
/// addresses. Those of the system, such as what prints, have no lines.
bool works_elsewhere(const KernelCode& code, const PtxCounts& counts) {
  return std::ranges::any_of(counts.lines, [&](const auto& line) {
    return line.second.threads > 0 && code.lines_elsewhere.contains(line.first);
  });
}

/// Whether something was executed that leads where nothing is known of the code: to a function that
/// is not in the kernel, such as what ends it where an assertion fails, or to an address in a
/// register that is in no table.
bool executes(Flow flow, const KernelCode& code, const std::vector<BasicBlock>& blocks,
              const PtxCounts& counts) {
  for (const BasicBlock& block : blocks) {
    for (std::uint32_t at = block.first; at < block.last; ++at) {
      const Instruction& instruction = code.instructions[at];
      if (instruction.flow != flow || code.jump_tables.contains(instruction.address)) continue;
      const auto line = counts.lines.find(instruction.ptx_line);
      if (line == counts.lines.end() || line->second.threads > 0) return true;
    }
  }
  return false;
}

}  // namespace

Alignment align(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                const PtxCounts& counts, WorkBudget& budget) {
  Alignment alignment;
  if (!code.why_not.empty()) {
    alignment.why_not = code.why_not;
    return alignment;
  }
  if (blocks.empty() || counts.threads == 0) {
    alignment.why_not = "nothing of it was executed";
    return alignment;
  }
  if (budget.is_spent()) {
    alignment.why_not = kNoWorkLeft;
    return alignment;
  }
  if (executes(Flow::external, code, blocks, counts) && works_elsewhere(code, counts)) {
    alignment.why_not = "it calls functions that are not in its code";
    return alignment;
  }
  if (executes(Flow::indirect, code, blocks, counts)) {
    alignment.why_not = "it jumps to addresses in registers";
    return alignment;
  }
  const ThreadFlow flow(blocks);
  const std::vector<Anchor> anchors = find_anchors(code, blocks, counts);
  Problem problem = problem_of(flow, anchors, counts.threads);
  const std::vector<Loop> loops = find_loops(blocks);
  const std::vector<CopiedTurns> copied = find_copied_turns(code, blocks, loops, counts);
  use_copies(flow, copied, counts.threads, problem);
  limit_loops(flow, loops, copied, counts, problem);
  const auto solved = solve(problem.equations, problem.costs, budget);
  if (!solved) {
    alignment.why_not = budget.is_spent() ? kNoWorkLeft : "it has too many basic blocks";
    return alignment;
  }
  const Deviations found =
      deviations(problem.equations, blocks.size(), anchors.size(), solved->unknowns);
  alignment.deviation = std::min(1.0, found.all);
  alignment.why_not = objection_to(found);
  const std::vector<double> executed = flow.executed(solved->unknowns);
  if (alignment.why_not.empty()) {
    std::vector<double> threads = executed;
    for (double& one : threads) one *= counts.threads;
    alignment.why_not = what_is_missing(code, blocks, anchors, counts, threads);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double threads = executed[i] * counts.threads;
    const double warps = threads * warps_per_thread(code, blocks[i], counts);
    alignment.blocks.push_back({.threads = threads, .warps = warps});
    alignment.issued += warps * (blocks[i].last - blocks[i].first);
  }
  return alignment;
}

Alignment align(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                const PtxCounts& counts) {
  WorkBudget budget(std::numeric_limits<std::uint64_t>::max());
  return align(code, blocks, counts, budget);
}

}  // namespace simgpu::sass
