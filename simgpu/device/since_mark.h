#pragma once

#include <cstdint>

#include "simgpu/device/timeline.h"
#include "simgpu/settled_bytes.h"

namespace simgpu {

/// What is known of the call that is measured: all since the last mark, which replaces it as a
/// whole.
struct SinceMark {
  Picoseconds marked_at = 0;
  std::uint64_t changes_at_mark = 0;  ///< DeviceMemory::changes()
  std::uint64_t work = 0;             ///< of the launches
  std::uint64_t host_work = 0;        ///< of launches and copies
  std::uint64_t launches = 0;         ///< of kernels
  std::uint64_t host_calls = 0, calls_after_fault = 0;
  bool is_cut_short = false;     ///< a launch took too long: nobody knows what follows from it
  bool left_blocks_out = false;  ///< a launch was sampled: its results are not whole
  /// What is final of a call whose launch was cut short or sampled: what that launch's whole blocks
  /// stored, if it had all of its inputs, and nothing came behind it that could have changed that.
  SettledBytes settled = {};

  /// What comes next changes memory: of a call that was cut short nothing is final any more.
  void unsettle() { settled = {}; }
};

}  // namespace simgpu
