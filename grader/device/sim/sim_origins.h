#pragma once

#include <cstdint>
#include <vector>

#include "grader/device/device.h"
#include "simgpu/device/device_process.h"

namespace rooflab {

/// Whether the device is to follow what goes into the elements of a request's outputs: where they
/// are asked for, and the whole call runs.
bool follows_origins(const RunRequest& request);

/// What the device saw go into the elements that the request asks for, behind its first call.
/// @param addresses of the request's tensors
std::vector<ElementOrigin> origins_of(simgpu::DeviceProcess& device, const RunRequest& request,
                                      const std::vector<std::uint64_t>& addresses);

}  // namespace rooflab
