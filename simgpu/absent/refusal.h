#pragma once

namespace simgpu::absent {

/// What the libraries' functions say of any status.
inline constexpr const char* kStatusText = "not supported by the simulated GPU";

/// Says on stderr, and to the device, that the program calls a function of a library that the
/// simulated GPU does not have. @returns `status`
int refuse(const char* function, int status);

}  // namespace simgpu::absent
