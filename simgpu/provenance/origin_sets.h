#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace simgpu {

/// What a value was made of: a set of loads, as a number that OriginSets explains.
using OriginSet = std::uint32_t;

/// A load by one thread from memory that no kernel had stored to, or a copy of a few bytes.
struct LoadEvent {
  std::uint64_t address = 0;  ///< of its first byte
  std::uint64_t block = 0;
  std::uint32_t thread = 0;
  std::uint32_t launch = 0;  ///< numbers that whoever makes events gives them
  std::uint32_t site = 0;
};

/// Bytes of a load that went into a value.
struct LoadedBytes {
  std::uint32_t event = 0;
  std::uint32_t first = 0, count = 0;  ///< each at most 255
  bool operator==(const LoadedBytes&) const = default;
};

/// Sets of loads that share their parts: a union is a pair of sets, which is mostly kept once
/// however often it is made. So a sum of n products takes 2 n pairs, however many elements each of
/// its partial sums has. What is in a set is found out when somebody asks.
///
/// Two kinds of sets have a single load. A *raw* one is what the load brought, byte by byte as it
/// was in memory: parts of it can still be told from each other. A *used* one is a value that was
/// computed from these bytes.
class OriginSets {
 public:
  static constexpr OriginSet kNone = 0;     ///< nothing that was loaded
  static constexpr OriginSet kUnknown = 1;  ///< something that nobody follows
  /// Of memory alone: what came from outside, and no thread has loaded yet.
  static constexpr OriginSet kOutside = 2;
  static constexpr std::size_t kMostNodes = std::size_t{1} << 24;
  static constexpr std::size_t kMostEvents = std::size_t{1} << 22;

  /// @param most_nodes beyond it, new sets are kUnknown; so are loads beyond kMostEvents
  explicit OriginSets(std::size_t most_nodes = kMostNodes);

  /// Its number; nothing when there is no more room.
  std::optional<std::uint32_t> add(const LoadEvent& event);
  const LoadEvent& event(std::uint32_t number) const { return events_[number]; }

  bool is_raw(OriginSet set) const { return (nodes_[set].right & kMask) == kRaw; }
  /// Of a raw set.
  LoadedBytes bytes_of(OriginSet set) const;
  /// These bytes of a load, as they are.
  OriginSet raw(const LoadedBytes& bytes);
  /// What a value has that was computed from one with `set`.
  OriginSet used(OriginSet set) const;
  /// Of two used sets.
  OriginSet unite(OriginSet one, OriginSet other);

  struct Listing {
    std::vector<LoadedBytes> loads;  ///< by event and byte, each once
    bool complete = true;            ///< nothing unknown is among them, and none was left out
  };
  /// What is in a set. Beyond `most_loads`, or after a search of `most_steps`, the rest is left
  /// out.
  Listing list(OriginSet set, std::size_t most_loads, std::size_t most_steps) const;

  std::size_t nodes() const { return nodes_.size(); }
  std::size_t bytes() const;

 private:
  // A node is a union of two others, or bytes of an event: then `right` says which.
  static constexpr std::uint32_t kRaw = 1U << 31, kUsed = 3U << 30, kMask = 3U << 30;
  struct Node {
    std::uint32_t left = 0, right = 0;
    bool operator==(const Node&) const = default;
  };

  // Behind each raw node stands the used one of the same bytes.
  static Node leaf(const LoadedBytes& bytes, std::uint32_t kind) {
    return {bytes.event, kind | bytes.first << 8 | bytes.count};
  }
  OriginSet keep(const Node& node);

  std::size_t most_nodes_;
  std::vector<Node> nodes_;
  std::vector<LoadEvent> events_;
  std::vector<OriginSet> recent_;  ///< by a hash; the last of those that share a place
};

}  // namespace simgpu
