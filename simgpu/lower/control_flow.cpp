#include "simgpu/lower/control_flow.h"

#include <algorithm>

namespace simgpu {
namespace {

/// Nodes in post-order of the reversed graph, found from the exit without recursion.
std::vector<std::uint32_t> reverse_post_order(
    const std::vector<std::vector<std::uint32_t>>& predecessors, std::uint32_t exit) {
  std::vector<char> seen(predecessors.size(), 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{exit, 0}};
  std::vector<std::uint32_t> order;
  seen[exit] = 1;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == predecessors[node].size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const std::uint32_t neighbour = predecessors[node][next++];
    if (!seen[neighbour]) {
      seen[neighbour] = 1;
      stack.emplace_back(neighbour, 0);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

std::vector<std::uint32_t> immediate_post_dominators(const ControlFlow& flow) {
  const std::uint32_t exit = flow.blocks();
  std::vector<std::vector<std::uint32_t>> predecessors(exit + 1);
  std::vector<std::vector<std::uint32_t>> successors = flow.successors;
  for (std::uint32_t block = 0; block < exit; ++block) {
    if (successors[block].empty()) successors[block].push_back(exit);
    for (const std::uint32_t next : successors[block]) predecessors[next].push_back(block);
  }
  const std::vector<std::uint32_t> order = reverse_post_order(predecessors, exit);
  constexpr std::uint32_t kUnknown = 0xFFFFFFFFU;
  std::vector<std::uint32_t> rank(exit + 1, kUnknown);
  for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;

  std::vector<std::uint32_t> dominator(exit + 1, kUnknown);
  dominator[exit] = exit;
  const auto intersect = [&](std::uint32_t x, std::uint32_t y) {
    while (x != y) {
      while (rank[x] > rank[y]) x = dominator[x];
      while (rank[y] > rank[x]) y = dominator[y];
    }
    return x;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t node : order) {
      if (node == exit) continue;
      std::uint32_t meet = kUnknown;
      for (const std::uint32_t next : successors[node]) {
        if (dominator[next] == kUnknown) continue;
        meet = meet == kUnknown ? next : intersect(meet, next);
      }
      if (meet != dominator[node]) {
        dominator[node] = meet;
        changed = true;
      }
    }
  }
  dominator.resize(exit);
  std::replace(dominator.begin(), dominator.end(), kUnknown, exit);
  return dominator;
}

}  // namespace simgpu
