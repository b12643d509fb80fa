#pragma once

namespace simgpu {

/// Checks that this processor has the instructions the engine was compiled for.
/// @throws std::runtime_error naming the missing one and the CMake option to change
void require_cpu_features();

}  // namespace simgpu
