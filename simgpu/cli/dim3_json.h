#pragma once

#include <nlohmann/json.hpp>

#include "simgpu/report.h"

namespace simgpu::cli {

/// [x, y, z]
inline nlohmann::json triple(const Dim3& size) {
  return nlohmann::json::array({size.x, size.y, size.z});
}

}  // namespace simgpu::cli
