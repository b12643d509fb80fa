#pragma once

#include <string_view>

namespace simgpu {

/// Whether one of NVIDIA's libraries for which there is one of the simulated GPU has a function of
/// that name. What a guest says beyond that is no name to show.
bool is_public_function(std::string_view name);

}  // namespace simgpu
