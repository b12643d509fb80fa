#pragma once

#include <string>

#include "grader/device/device.h"
#include "grader/device/open_device.h"

namespace rooflab {

/// A simulated GPU. Every run gets a device process and a guest process of its own.
class SimDevice : public Device {
 public:
  /// @param gpu name of a file in options.gpu_specs. @throws DeviceError
  SimDevice(const std::string& gpu, const DeviceOptions& options);

  std::string id() const override { return "sim:" + gpu_.id; }
  std::string name() const override { return "simulated " + gpu_.name; }
  std::string time_kind() const override { return "modelled"; }
  const gpu_spec::GpuSpec& gpu() const override { return gpu_; }
  RunOutcome run(const RunRequest& request) override;
  bool backs_lazily() const override { return true; }
  bool runs_side_by_side() const override { return true; }

 private:
  DeviceOptions options_;
  gpu_spec::GpuSpec gpu_;
};

}  // namespace rooflab
