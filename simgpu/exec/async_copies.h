#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "simgpu/checkers/access.h"

namespace simgpu {

/// The asynchronous copies (cp.async) that one warp has issued and not waited for. What they copied
/// is kept here and comes to shared memory when the thread has waited for it, the latest moment
/// that PTX allows: a program that does not wait sees what was there before.
class AsyncCopies {
 public:
  /// One instruction's.
  struct Copy {
    std::uint32_t pc = 0;
    std::uint32_t under_way = 0;                         ///< lanes that have not waited for it
    std::uint8_t bytes = 0;                              ///< per lane
    std::array<std::uint32_t, kWarpSize> group{};        ///< number of each lane's group
    std::array<std::uint64_t, kWarpSize> destination{};  ///< offset in shared memory
    alignas(64) std::array<std::uint8_t, std::size_t{kWarpSize} * 16> values{};  ///< lane by lane
  };
  /// Beyond, the oldest come to an end by themselves; no program has so many under way.
  static constexpr std::size_t kMost = 1024;

  /// A new block.
  void clear() {
    first_ = count_ = 0;
    arrivals_.clear();
    committed_.fill(0);
  }

  bool is_full() const { return count_ >= kMost; }
  /// A new copy by the lanes of `mask`; the caller fills in the rest, which may hold anything.
  Copy& add(std::uint32_t mask) {
    if (count_ == ring_.size()) grow();
    Copy& copy = at(count_++);
    copy.under_way = mask;
    copy.group = committed_;
    return copy;
  }

  /// The lanes of `mask` close their groups; what follows belongs to the next ones.
  void commit(std::uint32_t mask) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) committed_[lane] += mask >> lane & 1U;
  }

  /// What the lane has copied so far arrives at the mbarrier at `place` when it is there.
  void arrive_at(std::uint32_t place, unsigned lane) {
    const auto known = std::ranges::find(arrivals_, place, &Arrival::place);
    if (known != arrivals_.end()) {
      *known = {place, lane, committed_[lane]};
    } else if (arrivals_.size() < kMostArrivals) {
      arrivals_.push_back({place, lane, committed_[lane]});
    }
  }
  /// Groups that were closed since copies arrived at the mbarrier; nothing where none did. None
  /// where there are more mbarriers than are kept: then the last copies may have arrived there.
  std::optional<std::uint32_t> groups_since_arrival(std::uint32_t place) const {
    const auto known = std::ranges::find(arrivals_, place, &Arrival::place);
    if (known == arrivals_.end()) {
      return arrivals_.size() < kMostArrivals ? std::nullopt : std::optional<std::uint32_t>(0);
    }
    return committed_[known->lane] - known->groups;
  }

  /// Until of each lane in `mask` no more than its `allowed` newest groups are under way. Calls
  /// done(copy, lanes) for what is done now, in the order of issue.
  template <class Done>
  void wait(std::uint32_t mask, std::uint32_t allowed, Done done) {
    for (std::size_t i = 0; i < count_; ++i) {
      Copy& copy = at(i);
      std::uint32_t lanes = 0;
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const bool waited = committed_[lane] - copy.group[lane] > allowed;
        lanes |= static_cast<std::uint32_t>(waited) << lane;
      }
      finish(copy, lanes & mask, done);
    }
    forget_done();
  }

  /// The oldest copy, for all its lanes.
  template <class Done>
  void finish_oldest(Done done) {
    finish(at(0), at(0).under_way, done);
    forget_done();
  }

 private:
  static constexpr std::size_t kFewest = 8;
  /// More than the stages of any pipeline.
  static constexpr std::size_t kMostArrivals = 64;

  struct Arrival {
    std::uint32_t place;
    unsigned lane;
    std::uint32_t groups;  // that this lane had closed
  };

  Copy& at(std::size_t i) { return ring_[(first_ + i) % ring_.size()]; }

  void grow() {
    std::vector<Copy> larger(std::max(kFewest, 2 * ring_.size()));
    for (std::size_t i = 0; i < count_; ++i) larger[i] = at(i);
    ring_ = std::move(larger);
    first_ = 0;
  }

  template <class Done>
  static void finish(Copy& copy, std::uint32_t lanes, Done done) {
    lanes &= copy.under_way;
    if (lanes == 0) return;
    done(copy, lanes);
    copy.under_way &= ~lanes;
  }
  /// Those in front; one that is done before an older one stays until that is, too.
  void forget_done() {
    while (count_ > 0 && at(0).under_way == 0) {
      first_ = (first_ + 1) % ring_.size();
      --count_;
    }
  }

  std::vector<Copy> ring_;  ///< [first_, first_ + count_), in the order of issue
  std::size_t first_ = 0, count_ = 0;
  std::array<std::uint32_t, kWarpSize> committed_{};  ///< groups that each lane has closed
  std::vector<Arrival> arrivals_;                     ///< the last at each mbarrier
};

}  // namespace simgpu
