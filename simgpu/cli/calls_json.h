#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "simgpu/finding.h"

namespace simgpu::cli {

inline nlohmann::json calls_json(const std::vector<InlinedCall>& calls) {
  nlohmann::json list = nlohmann::json::array();
  for (const InlinedCall& call : calls) {
    list.push_back({{"function", call.function},
                    {"file", call.file},
                    {"line", call.line},
                    {"column", call.column}});
  }
  return list;
}

}  // namespace simgpu::cli
