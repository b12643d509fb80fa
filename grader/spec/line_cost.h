#pragma once

#include <map>
#include <string>
#include <vector>

#include "simgpu/line_record.h"

namespace rooflab {

/// What one line of the source cost in a timed call, all of its launches together.
struct LineCost {
  simgpu::LineRecord record;  ///< its file as students know it: "gemm_tiled.cu"
  std::string source;         ///< the line itself; untrusted, empty where it cannot be shown
  std::string words;          ///< what makes it slow; empty where nothing stands out
};

/// What the lines of a timed call cost.
struct SourceCosts {
  std::vector<LineCost> lines;  ///< most time first
  double kernels_us = 0;        ///< the time of all launches, their overhead included
  /// The text of the submission's files that have such lines; untrusted.
  std::map<std::string, std::string> sources;
  std::string missing;  ///< why there are no lines; empty where there are
};

}  // namespace rooflab
