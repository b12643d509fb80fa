#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// Charts as plain values: fill one in, then write it as JSON, CSV and SVG.
///
/// @code
/// plot::RooflineChart chart;
/// chart.title = "A100 40 GB PCIe";
/// chart.roofs = {{"fp32", 19.5e12}};
/// chart.memory = {{"DRAM", 1555e9}};
/// const double intensity = 4096.0 / 6;  // FLOP per byte
/// chart.points = {{"gemm 4096", intensity, 19.5e12, plot::PointKind::predicted},
///                 {"gemm 4096", intensity, 16.1e12, plot::PointKind::measured}};
/// plot::write(chart, "out/roofline");  // out/roofline.json, out/roofline.csv, out/roofline.svg
/// @endcode
///
/// Every function throws std::invalid_argument that says what is wrong with a chart: a number that
/// is not finite or is negative, a missing label, lists of different lengths, too many entries.
namespace rooflab::plot {

/// A horizontal line: the peak arithmetic rate for one type.
struct Roof {
  std::string label;  ///< "fp32"
  double flops_per_second = 0;
};

/// A slanted line: the bandwidth of one memory level.
struct MemoryLevel {
  std::string label;  ///< "DRAM"
  double bytes_per_second = 0;
};

/// Where a point comes from. A target is what full marks ask for.
enum class PointKind { predicted, modelled, measured, target };

/// One run of one kernel. Points of the same label belong together: a dashed line joins them.
struct Point {
  std::string label;
  double intensity = 0;         ///< FLOP per byte
  double flops_per_second = 0;  ///< performance
  PointKind kind = PointKind::measured;
};

/// Performance over arithmetic intensity, both logarithmic. The axes follow from the roofs and the
/// memory levels alone, so that two charts of one GPU can be compared; a point outside of them
/// stands at the border, with an arrow.
struct RooflineChart {
  std::string title;
  std::vector<Roof> roofs;          ///< at least one
  std::vector<MemoryLevel> memory;  ///< at least one
  std::vector<Point> points;
};

/// Instead of a latency or a size: this run did not fit into the memory of the GPU.
inline constexpr double kOutOfMemory = std::numeric_limits<double>::lowest();

/// One value for each entry of the x axis.
struct Series {
  std::string label;
  std::vector<double> values;  ///< above 0, or kOutOfMemory
};

/// Lines of latency over size. Both axes are logarithmic; sizes that are not rising numbers stand
/// side by side instead.
struct LatencyChart {
  std::string title;
  std::string x_label;         ///< "M = N = K"
  std::vector<std::string> x;  ///< sizes, "512", "1024", …
  std::vector<Series> latency_ms;
};

/// Bars of latency and of memory by sequence length, both logarithmic.
struct AttentionChart {
  std::string title;
  std::vector<std::int64_t> lengths;  ///< tokens
  std::vector<Series> latency_ms;
  std::vector<Series> memory_bytes;
};

std::string to_json(const RooflineChart& chart);
std::string to_json(const LatencyChart& chart);
std::string to_json(const AttentionChart& chart);

/// One line for each roof, memory level and point, or for each value (RFC 4180).
std::string to_csv(const RooflineChart& chart);
std::string to_csv(const LatencyChart& chart);
std::string to_csv(const AttentionChart& chart);

/// A self-contained picture for light and dark pages, 800 units wide.
std::string to_svg(const RooflineChart& chart);
std::string to_svg(const LatencyChart& chart);
std::string to_svg(const AttentionChart& chart);

/// What to_json() makes, read back; anything else is refused.
RooflineChart roofline_from_json(std::string_view json);
LatencyChart latency_from_json(std::string_view json);
AttentionChart attention_from_json(std::string_view json);

/// Writes stem.json, stem.csv and stem.svg, each of them whole or not at all.
/// @throws std::filesystem::filesystem_error when a file cannot be written.
void write(const RooflineChart& chart, const std::filesystem::path& stem);
void write(const LatencyChart& chart, const std::filesystem::path& stem);
void write(const AttentionChart& chart, const std::filesystem::path& stem);

}  // namespace rooflab::plot
