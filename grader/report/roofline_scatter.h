#pragma once

#include <string>
#include <vector>

#include "specs/gpu_spec.h"

namespace rooflab {

/// One run, of one student: what it did for each byte, and how fast.
struct ScatterMark {
  std::string label;  ///< for the mark's tooltip: "Ada Lovelace"
  double intensity = 0;
  double flops_per_second = 0;
};

/// The runs of one task, in a colour and form of their own; what is not above 0 has no place on
/// logarithmic axes and is left out.
struct ScatterSeries {
  std::string label;  ///< "gemm_tiled"
  std::string peak;   ///< key of GpuSpec::peak_flops
  std::vector<ScatterMark> marks;
};

/// Many runs on the roofline of a GPU, as an SVG picture for light and dark pages; of each series
/// the median performance too. Empty when there is nothing to show. The labels may come from
/// anybody.
std::string roofline_scatter(const std::string& title, const std::vector<ScatterSeries>& series,
                             const gpu_spec::GpuSpec& gpu);

}  // namespace rooflab
