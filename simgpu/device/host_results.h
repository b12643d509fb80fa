#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "simgpu/byte_range.h"
#include "simgpu/device/stream_races.h"

namespace simgpu {

/// What kernels that may still be under way have stored to memory of the host, pinned or managed
/// (RL0321). Here a kernel is done when its launch returns, so that a host which waits for nothing
/// finds its results; on a GPU it may find what was there before. The guest keeps these pages from
/// its program until it waits, and asks about an access that comes before.
class HostResults {
 public:
  struct Work {
    std::vector<ByteRange> stored;  ///< in order
    std::string by{};               ///< "kernel scale"
    StreamOrder::Stamp stamp{};
    std::uint64_t stream_number = 0;  ///< as records tell it
    AccessSite where{};               ///< the call that issued it
  };

  void add(Work work);
  /// Whether there is something that take_new() has not given out.
  bool has_new() const { return given_ < outstanding_.size(); }
  /// The pages of that, in order; of very many the first ones.
  std::vector<ByteRange> take_new();
  /// The work last issued that stores to this byte and is not done; nullptr: none.
  const Work* find(std::uint64_t address, const StreamOrder& order) const;
  /// The host has waited. What is not done because of that is new again: the guest has given its
  /// pages back to the program.
  void drop_done(const StreamOrder& order);
  void forget_all() { *this = {}; }

 private:
  std::deque<Work> outstanding_;
  std::size_t given_ = 0;  ///< of the first ones
};

}  // namespace simgpu
