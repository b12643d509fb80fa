#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/checkers/warp_order.h"

namespace simgpu {

/// What MemoryRaces knows of a stretch, in few bytes: neighbouring units that the lanes of a warp
/// have touched together are one run.
struct KeptRaces {
  /// Which of a unit's uses.
  enum class Slot : std::uint8_t { writer, reader, other_reader, first_update, second_update };
  struct Run {
    Slot slot = Slot::writer;
    AccessKind kind = AccessKind::load;
    std::uint8_t warp = 0, lane = 0;  ///< of the first unit
    std::uint8_t lane_units = 0;      ///< units of each lane; 0: all are the same lane's
    bool meets_atomics = false;
    std::uint16_t first = 0, count = 0;  ///< units
    std::uint32_t pc = 0;
    WarpOrder::Time time = 0;

    std::uint8_t lane_of(std::size_t unit) const {
      const std::size_t further = lane_units == 0 ? 0 : (unit - first) / lane_units;
      return static_cast<std::uint8_t>(lane + further);
    }
  };

  std::uint32_t unit_bytes = 4;
  std::vector<Run> runs;
  std::vector<std::uint32_t> values;  ///< that the runs of writers have stored, one after the other

  std::size_t bytes() const {
    return sizeof(*this) + runs.capacity() * sizeof(Run) + values.capacity() * sizeof(values[0]);
  }
};

}  // namespace simgpu
