#pragma once

#include <memory>

#include "grader/device/cuda/cuda_api.h"
#include "grader/device/cuda/gpu_guest.h"
#include "grader/device/open_device.h"
#include "grader/device/opening_step.h"

namespace rooflab {

/// Proves, with a guest that has no student's code, that a run can work on this GPU: memory that
/// both sides share, a kernel in machine code with the right results, events, and the libraries
/// that the course's tasks need. What a GPU says of itself proves none of it.
/// docs/design/measuring.md lists the steps. Others are kept from the GPU meanwhile.
/// @throws DeviceError with the first that fails, and what to do about it
void prove_opening(const std::shared_ptr<const CudaApi>& api, const DeviceOptions& options,
                   const OpenedGpu& gpu, const OpeningSteps& steps);

}  // namespace rooflab
