#pragma once

#include "simgpu/device/device.h"
#include "simgpu/device/wire.h"

namespace simgpu {

/// Carries out one cuBLAS routine on device memory and puts it on the timeline. The request is
/// untrusted.
CudaError blas_operation(Device& device, wire::Reader& reader, wire::Writer& writer);

}  // namespace simgpu
