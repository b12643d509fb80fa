#pragma once

#include "simgpu/exec/engine.h"

namespace simgpu {

/// Thrown from a handler: the launch ends here, for this reason. Leaves the engine as LaunchResult.
struct LaunchFailure {
  LaunchStatus status = LaunchStatus::ok;
  Finding finding;
};

}  // namespace simgpu
