#pragma once

#include <cstdint>

namespace simgpu {

/// What sort of mistake a device has found: it decides about the verdict.
enum class FindingKind : std::uint8_t {
  out_of_bounds,
  misaligned,
  uninitialized_read,
  shared_race,
  global_race,
  divergent_barrier,
  deadlock,
  invalid_api_use,
  leak,
  device_assert,
  trap,
  unsupported,
  too_long,  ///< a launch that takes more than its budget; it may come to an end
};
/// The JSON spelling, "out-of-bounds".
const char* name_of(FindingKind kind);

}  // namespace simgpu
