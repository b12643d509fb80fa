#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace simgpu {

/// Sums by key, of more keys than there is room for. The smaller half is dropped when the room is
/// used up, but not forgotten: a key that is not there has as much as any that was dropped. So no
/// sum is too small, and none is too large by more than all sums together divided by half of the
/// room. What is dropped depends on the order of keys alone.
///
/// A Sum has weight_of(sum), take_larger(sum, other), which takes the larger of each number, and
/// +=.
template <typename Sum>
class BoundedSums {
 public:
  /// @param room how many keys are kept
  explicit BoundedSums(std::size_t room) : room_(room) {}

  /// Room for the key is made where there is none.
  Sum& operator[](std::uint64_t key) {
    const auto found = sums_.find(key);
    if (found != sums_.end()) return found->second;
    if (sums_.size() == room_) drop_smaller_half();
    return sums_.emplace(key, floor_).first->second;
  }

  /// At least as much as was added to the key.
  const Sum& at(std::uint64_t key) const {
    const auto found = sums_.find(key);
    return found == sums_.end() ? floor_ : found->second;
  }

  /// Every key may have had as much besides.
  void add_to_all(const Sum& more) {
    for (auto& [key, sum] : sums_) sum += more;
    floor_ += more;
  }

  const std::unordered_map<std::uint64_t, Sum>& kept() const { return sums_; }
  /// Of every key that is not kept.
  const Sum& floor() const { return floor_; }
  /// A key that was dropped and came again counts twice.
  std::size_t keys() const { return sums_.size() + dropped_; }

 private:
  void drop_smaller_half() {
    std::vector<std::uint64_t> weights;
    weights.reserve(sums_.size());
    for (const auto& [key, sum] : sums_) weights.push_back(weight_of(sum));
    const auto middle = weights.begin() + static_cast<std::ptrdiff_t>(weights.size() / 2);
    std::ranges::nth_element(weights, middle);
    dropped_ += std::erase_if(sums_, [&](const auto& entry) {
      if (weight_of(entry.second) > *middle) return false;
      take_larger(floor_, entry.second);
      return true;
    });
  }

  std::size_t room_;
  std::unordered_map<std::uint64_t, Sum> sums_;
  Sum floor_{};
  std::size_t dropped_ = 0;
};

}  // namespace simgpu
