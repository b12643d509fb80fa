#pragma once

#include <string>

#include "specs/gpu_spec.h"

namespace simgpu {

/// A GPU of the project's own specs, "a100".
inline gpu_spec::GpuSpec described_gpu(const std::string& id) {
  return gpu_spec::find(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus", id);
}

}  // namespace simgpu
