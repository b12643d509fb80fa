#pragma once

#include <memory>

#include "simgpu/counters/byte_set.h"
#include "simgpu/touched_places.h"

namespace simgpu {

/// Puts together where the blocks of a launch touch memory.
class PlaceSets {
 public:
  void add(const TrafficLog& log);
  /// @param add_touched takes in what all blocks of a grid touch: (KindFilter, ByteSet&)
  template <typename AddTouched>
  void add_grid(const AddTouched& add_touched) {
    add_touched(is_read, read_);
    add_touched(is_plain_write, written_);
    add_touched(is_update, updated_);
  }
  /// nullptr where nobody knows, or there are too many places to be told.
  std::shared_ptr<const TouchedPlaces> take();

 private:
  static bool is_read(TrafficEntry::Kind kind);
  static bool is_plain_write(TrafficEntry::Kind kind);
  static bool is_update(TrafficEntry::Kind kind);

  ByteSet read_, written_, updated_;
};

}  // namespace simgpu
