#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "grader/device/cuda/clock_watch.h"
#include "grader/device/cuda/cuda_api.h"
#include "grader/device/cuda/gpu_guest.h"
#include "grader/device/device.h"
#include "grader/device/open_device.h"

namespace rooflab {

/// A real GPU. Our process owns the tensors and the clock; the guest opens the pool that the
/// tensors lie in by a descriptor that we hand to it.
class CudaDevice : public Device {
 public:
  /// Proves first that all of it works, with a guest: prove_opening().
  /// @throws DeviceError when there is no such GPU, a guest cannot use it, or no specification is
  /// of it.
  CudaDevice(int index, const DeviceOptions& options);

  std::string id() const override { return "cuda:" + std::to_string(gpu_.index); }
  std::string name() const override { return gpu_.description.name; }
  std::string time_kind() const override { return "measured"; }
  const gpu_spec::GpuSpec& gpu() const override { return spec_; }
  std::string uuid() const override { return gpu_.description.uuid; }
  const gpu_spec::GpuSpec& roofline_gpu() const override { return roofline_gpu_; }
  std::string peaks() const override { return peaks_; }
  RunOutcome run(const RunRequest& request) override;
  bool checks_every_run() const override { return false; }
  CheckedCall check(const RunRequest& request) override;

 private:
  /// @param count of the GPUs there are @return what it is
  std::string look_at_gpu(int count);

  /// Takes the peaks of a calibration of this very GPU, where there is a good one.
  void look_for_calibration();

  CheckedCall check_once(const RunRequest& request) const;

  bool checkers_failed_ = false;
  DeviceOptions options_;
  std::shared_ptr<const CudaApi> api_;
  OpenedGpu gpu_;
  gpu_spec::GpuSpec spec_;
  gpu_spec::GpuSpec roofline_gpu_;
  std::string peaks_ = "data sheet";
  std::optional<ClockWatch> watch_;
};

/// The specification that describes a GPU: same compute capability and SMs, memory within a sixth,
/// and one of its driver's names, where it lists any.
/// @throws DeviceError naming what was looked for, and the directory to add a file to.
gpu_spec::GpuSpec matching_spec(const CudaApi::Description& gpu,
                                const std::filesystem::path& specs);

}  // namespace rooflab
