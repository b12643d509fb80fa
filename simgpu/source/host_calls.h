#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

/// A launch or a call of a CUDA library as host code has it in its source.
struct HostCall {
  std::string name;  ///< of the kernel or function, without template arguments
  std::uint32_t line = 0;
  bool is_launch = false;              ///< by <<< >>>
  std::vector<std::string> arguments;  ///< of a launch those between <<< and >>>; without blanks
};

/// In order: launches, and calls of functions whose names begin with "cuda" or "cublas". What
/// macros make is not among them.
std::vector<HostCall> host_calls(std::string_view source);

/// Whether a launch, a copy or a fill names no stream, or one of the default streams. False for
/// calls of other functions.
bool is_on_default_stream(const HostCall& call);

}  // namespace simgpu
