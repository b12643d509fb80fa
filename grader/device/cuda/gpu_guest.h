#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/device/cuda/cuda_api.h"
#include "grader/device/cuda/gpu_nodes.h"
#include "grader/device/guest_process.h"
#include "grader/device/open_device.h"

namespace rooflab {

/// A real GPU, as far as its guests have to know it.
struct OpenedGpu {
  int index = 0;  ///< by our process's numbers
  CudaApi::Description description;
  NvmlNumbers nvml;
};

/// Which nodes the guests of a GPU get. @throws DeviceError as nodes_of()
GpuNodes guest_nodes(const OpenedGpu& gpu, const SystemFolders& system, bool for_profilers);

/// What one guest gets beside that.
struct GuestNeeds {
  std::filesystem::path library;       ///< a submission; empty: none
  std::vector<std::string> libraries;  ///< TaskSpec::libraries
  std::chrono::duration<double> time_limit{60};
  int memory = -1;  ///< descriptor of the pool that its tensors lie in
};

/// A guest that sees one GPU and no other, and loads the driver and the toolkit that we did.
/// @throws DeviceError
GuestSetup gpu_guest_setup(const CudaApi& api, const DeviceOptions& options, const OpenedGpu& gpu,
                           const GuestNeeds& needs);

}  // namespace rooflab
