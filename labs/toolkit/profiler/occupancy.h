#pragma once

#include <cuda_runtime.h>

#include "profile.h"

namespace rooflab {

/// What a trace tells of the current device. @throws CudaError
ProfiledDevice describe_device();

/// Fills in blocks and warps for each multiprocessor and the occupancy that a kernel's launch can
/// have reached: resident threads by NVIDIA's occupancy calculator (cuda_occupancy.h), or fewer
/// where the grid has fewer blocks.
void estimate_occupancy(ProfiledEvent& kernel, const ProfiledDevice& device,
                        std::uint64_t static_shared_bytes);

}  // namespace rooflab
