#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace simgpu {

/// What was released at each place by what is there now: up to when of each warp of a block it is
/// ordered before what those do who acquire it. Bounded: of very many places those are forgotten
/// where nothing was released for longest.
class ReleasedTimes {
 public:
  using Time = std::uint32_t;
  using Times = std::shared_ptr<const std::vector<Time>>;
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 16;

  /// The later one of each warp's times.
  static void merge(std::vector<Time>& times, const std::vector<Time>& others);

  void clear();
  bool empty() const { return recent_.empty() && older_.empty(); }
  /// What was released at `place` is known, too.
  void add_to(std::vector<Time>& times, std::uint64_t place) const;
  /// A store: all that was released at `place` are these; nullptr: nothing.
  void set(std::uint64_t place, const Times& times);
  /// An atomic: these, and those before.
  void merge(std::uint64_t place, const Times& times);

 private:
  using ByPlace = std::unordered_map<std::uint64_t, Times>;

  const Times* find(std::uint64_t place) const;

  ByPlace recent_, older_;  ///< half of the most places at most, each
};

}  // namespace simgpu
