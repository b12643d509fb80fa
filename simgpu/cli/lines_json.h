#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "simgpu/report.h"

namespace simgpu::cli {

/// The lines of the launches of one report.
class LinesJson {
 public:
  explicit LinesJson(const Activity& activity) : activity_(activity) {}

  /// Of launches that are the same the first has its instructions, too; none has lines any more
  /// when there are very many.
  nlohmann::json of(const KernelRecord& kernel);

 private:
  static constexpr std::size_t kMostLines = 50'000;

  const Activity& activity_;
  std::set<std::uint32_t> told_;  ///< tables
  std::size_t lines_ = 0;
};

}  // namespace simgpu::cli
