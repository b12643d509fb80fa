#pragma once

#include <string>
#include <vector>

namespace rooflab {

/// One horizontal roof: a peak rate of the GPU.
struct Roof {
  std::string label;  ///< "fp32 19.5 TFLOP/s"
  double peak = 0;    ///< FLOP/s
};

/// One kernel on the plot.
struct RooflinePoint {
  std::string label;
  double intensity = 0;    ///< FLOP per byte of compulsory traffic
  double performance = 0;  ///< FLOP/s reached
  double target = 0;       ///< FLOP/s that full marks ask for, 0 for none
  bool reached = false;    ///< target reached
};

struct RooflinePlot {
  std::string title;
  double bandwidth = 0;  ///< bytes/s of DRAM
  std::vector<Roof> roofs;
  std::vector<RooflinePoint> points;
};

/// A log-log roofline as an SVG element, 760 x 460, styled by the classes of html.cpp's style
/// sheet. Axes depend on the roofs, so that two plots of one GPU compare, and reach down to slow
/// points; points outside are drawn at the edge.
std::string draw_roofline(const RooflinePlot& plot);

}  // namespace rooflab
