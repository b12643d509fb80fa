#pragma once

#include <optional>
#include <string>

#include "simgpu/exec/engine.h"
#include "simgpu/exec/places.h"

namespace simgpu {

/// Why a launch cannot go on.
struct Failure {
  Code code;
  std::string message;
  std::string action{};                  ///< AccessSite::action
  Place place{};                         ///< what it is about
  std::optional<LaunchStatus> status{};  ///< where it is not the code's
};

/// Thrown from a handler: the launch ends here, for this reason. Leaves the engine as LaunchResult.
struct LaunchFailure {
  LaunchStatus status = LaunchStatus::ok;
  Finding finding;
};

}  // namespace simgpu
