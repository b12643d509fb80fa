#pragma once

#include <cstdint>

namespace simgpu {

/// How a launch ended.
enum class LaunchStatus : std::uint8_t {
  ok,
  illegal_address,
  misaligned_address,
  assert_failed,
  trap,
  launch_timeout,
  launch_failure,
  stack_overflow,
  invalid_program_counter,
  unsupported,
};

}  // namespace simgpu
