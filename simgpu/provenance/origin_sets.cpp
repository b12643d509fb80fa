#include "simgpu/provenance/origin_sets.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace simgpu {
namespace {

/// Few enough to stay in the processor's cache: what is made again is made soon.
constexpr std::size_t kRecent = std::size_t{1} << 15;

}  // namespace

OriginSets::OriginSets(std::size_t most_nodes)
    : most_nodes_(most_nodes), nodes_(kOutside + 1), recent_(kRecent) {}

OriginSet OriginSets::keep(const Node& node) {
  const std::uint64_t both = std::uint64_t{node.left} << 32 | node.right;
  OriginSet& recent = recent_[(both * 0x9E3779B97F4A7C15) >> 49];
  static_assert(kRecent == std::size_t{1} << (64 - 49));
  if (recent != kNone && nodes_[recent] == node) return recent;
  if (nodes_.size() + 1 >= most_nodes_) return kUnknown;
  recent = static_cast<OriginSet>(nodes_.size());
  nodes_.push_back(node);
  if ((node.right & kMask) == kRaw) nodes_.push_back({node.left, node.right | kUsed});
  return recent;
}

std::optional<std::uint32_t> OriginSets::add(const LoadEvent& event) {
  if (nodes_.size() >= most_nodes_ || events_.size() >= kMostEvents) return std::nullopt;
  events_.push_back(event);
  return static_cast<std::uint32_t>(events_.size() - 1);
}

LoadedBytes OriginSets::bytes_of(OriginSet set) const {
  const Node& node = nodes_[set];
  return {node.left, node.right >> 8 & 0xFF, node.right & 0xFF};
}

OriginSet OriginSets::raw(const LoadedBytes& bytes) { return keep(leaf(bytes, kRaw)); }

OriginSet OriginSets::used(OriginSet set) const { return is_raw(set) ? set + 1 : set; }

OriginSet OriginSets::unite(OriginSet one, OriginSet other) {
  if (one == other || other == kNone) return one;
  if (one == kNone) return other;
  const Node node{std::min(one, other), std::max(one, other)};
  // A sum to which the same is added again and again.
  const Node& larger = nodes_[node.right];
  const bool is_union = (larger.right & kMask) == 0;
  if (is_union && (larger.left == node.left || larger.right == node.left)) return node.right;
  return keep(node);
}

OriginSets::Listing OriginSets::list(OriginSet set, std::size_t most_loads,
                                     std::size_t most_steps) const {
  Listing listing;
  std::unordered_set<OriginSet> seen;
  std::vector<OriginSet> left{set};
  while (!left.empty()) {
    const OriginSet next = left.back();
    left.pop_back();
    if (next == kNone || !seen.insert(next).second) continue;
    const bool is_leaf = (nodes_[next].right & kMask) != 0;
    const bool is_full =
        seen.size() > most_steps || (is_leaf && listing.loads.size() >= most_loads);
    if (next == kUnknown || is_full) listing.complete = false;
    if (is_full) break;
    if (next == kUnknown) continue;
    if (is_leaf) {
      listing.loads.push_back(bytes_of(next));
    } else {
      left.push_back(nodes_[next].left);
      left.push_back(nodes_[next].right);
    }
  }
  std::ranges::sort(listing.loads, {}, [](const LoadedBytes& bytes) {
    return std::pair{bytes.event, bytes.first};
  });
  // Parts of one load that lie together, or in each other, are one.
  std::vector<LoadedBytes> merged;
  for (const LoadedBytes& bytes : listing.loads) {
    if (!merged.empty() && merged.back().event == bytes.event &&
        merged.back().first + merged.back().count >= bytes.first) {
      LoadedBytes& last = merged.back();
      last.count = std::max(last.first + last.count, bytes.first + bytes.count) - last.first;
    } else {
      merged.push_back(bytes);
    }
  }
  listing.loads = std::move(merged);
  return listing;
}

std::size_t OriginSets::bytes() const {
  return nodes_.capacity() * sizeof(Node) + events_.capacity() * sizeof(LoadEvent) +
         recent_.capacity() * sizeof(OriginSet);
}

}  // namespace simgpu
