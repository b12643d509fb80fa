#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "grader/device/cuda/cuda_api.h"
#include "grader/device/device.h"
#include "grader/device/open_device.h"

namespace rooflab {

/// A real GPU. Our process owns the tensors and the clock; the guest opens the tensors by CUDA IPC.
class CudaDevice : public Device {
 public:
  /// @throws DeviceError when there is no such GPU, or no specification of it.
  CudaDevice(int index, const DeviceOptions& options);

  std::string id() const override { return "cuda:" + std::to_string(index_); }
  std::string name() const override { return description_.name; }
  std::string time_kind() const override { return "measured"; }
  const gpu_spec::GpuSpec& gpu() const override { return gpu_; }
  RunOutcome run(const RunRequest& request) override;

 private:
  int index_;
  DeviceOptions options_;
  std::shared_ptr<const CudaApi> api_;
  CudaApi::Description description_;
  gpu_spec::GpuSpec gpu_;
};

/// The specification that describes a GPU: same compute capability and SMs, memory within a sixth.
/// @throws DeviceError naming what was looked for, and the directory to add a file to.
gpu_spec::GpuSpec matching_spec(const CudaApi::Description& gpu,
                                const std::filesystem::path& specs);

}  // namespace rooflab
