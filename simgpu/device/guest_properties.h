#pragma once

#include "simgpu/device/protocol.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// What a guest is told of the GPU.
protocol::Properties properties_of(const gpu_spec::GpuSpec& gpu);

}  // namespace simgpu
