#include "labs/toolkit/plot/check_chart.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "labs/toolkit/plot/words.h"

namespace rooflab::plot {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

/// "roof 2 (\"fp32\")"
std::string entry(const char* kind, std::size_t index, const std::string& label) {
  return std::string(kind) + " " + std::to_string(index + 1) + " (\"" + label + "\")";
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

void check_text(const std::string& what, const std::string& text) {
  if (text.empty()) refuse(what + " is empty: say what the reader sees");
  if (text.size() > kLongestLabel)
    refuse(what + " is longer than " + std::to_string(kLongestLabel) + " bytes");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(text.begin(), text.end(), is_control))
    refuse(what + " has a line break or another control character");
  if (!is_utf8(text)) refuse(what + " is not UTF-8");
}

/// A rate of a GPU. The bounds are far outside of every GPU, and keep the axes drawable.
void check_rate(const std::string& what, double value) {
  constexpr double kLeast = 1e3, kMost = 1e21;
  if (!(value >= kLeast && value <= kMost))
    refuse(what + " is " + shortest(value) + ": it must lie between 1e3 and 1e21 per second");
}

void check_count(const std::string& what, std::size_t count, std::size_t least, std::size_t most) {
  if (count < least) refuse("the chart has no " + what);
  if (count > most)
    refuse("the chart has " + std::to_string(count) + " entries of " + what + ", at most " +
           std::to_string(most) + " can be drawn");
}

void check_series(const char* what, const std::vector<Series>& series, std::size_t sizes) {
  check_count(what, series.size(), 1, kMostSeries);
  for (std::size_t i = 0; i < series.size(); ++i) {
    check_text(std::string("the label of entry ") + std::to_string(i + 1) + " of " + what,
               series[i].label);
    const std::string name = entry(what, i, series[i].label);
    if (series[i].values.size() != sizes)
      refuse(name + " has " + std::to_string(series[i].values.size()) + " values for " +
             std::to_string(sizes) + " sizes");
    for (std::size_t k = 0; k < sizes; ++k) {
      const double value = series[i].values[k];
      // The bounds keep the axis drawable: from attoseconds to 30 years, in milliseconds.
      if (value != kOutOfMemory && !(value >= 1e-15 && value <= 1e21))
        refuse("value " + std::to_string(k + 1) + " of " + name + " is " + shortest(value) +
               ": it must be above 0 (1e-15 to 1e21), or kOutOfMemory");
    }
  }
}

}  // namespace

void check_chart(const RooflineChart& chart) {
  check_text("the title", chart.title);
  check_count("roofs", chart.roofs.size(), 1, kMostRoofs);
  check_count("memory levels", chart.memory.size(), 1, kMostMemoryLevels);
  check_count("points", chart.points.size(), 0, kMostPoints);
  for (std::size_t i = 0; i < chart.roofs.size(); ++i) {
    const Roof& roof = chart.roofs[i];
    check_text("the label of roof " + std::to_string(i + 1), roof.label);
    check_rate("flops_per_second of " + entry("roof", i, roof.label), roof.flops_per_second);
  }
  for (std::size_t i = 0; i < chart.memory.size(); ++i) {
    const MemoryLevel& level = chart.memory[i];
    check_text("the label of memory level " + std::to_string(i + 1), level.label);
    check_rate("bytes_per_second of " + entry("memory level", i, level.label),
               level.bytes_per_second);
  }
  for (std::size_t i = 0; i < chart.points.size(); ++i) {
    const Point& point = chart.points[i];
    check_text("the label of point " + std::to_string(i + 1), point.label);
    const std::string name = entry("point", i, point.label);
    if (!(std::isfinite(point.intensity) && point.intensity >= 0))
      refuse("the intensity of " + name + " is " + shortest(point.intensity) +
             ": it must be finite and at least 0");
    if (!(std::isfinite(point.flops_per_second) && point.flops_per_second >= 0))
      refuse("flops_per_second of " + name + " is " + shortest(point.flops_per_second) +
             ": it must be finite and at least 0");
    if (point.kind < PointKind::predicted || point.kind > PointKind::target)
      refuse("the kind of " + name + " is none of PointKind");
  }
}

void check_chart(const LatencyChart& chart) {
  check_text("the title", chart.title);
  check_text("x_label", chart.x_label);
  check_count("sizes", chart.x.size(), 1, kMostSizes);
  for (std::size_t i = 0; i < chart.x.size(); ++i)
    check_text("size " + std::to_string(i + 1), chart.x[i]);
  check_series("latency_ms", chart.latency_ms, chart.x.size());
}

void check_chart(const AttentionChart& chart) {
  check_text("the title", chart.title);
  check_count("lengths", chart.lengths.size(), 1, kMostSizes);
  for (std::size_t i = 0; i < chart.lengths.size(); ++i) {
    if (chart.lengths[i] <= 0)
      refuse("length " + std::to_string(i + 1) + " is " + std::to_string(chart.lengths[i]) +
             ": it must be above 0");
  }
  check_series("latency_ms", chart.latency_ms, chart.lengths.size());
  check_series("memory_bytes", chart.memory_bytes, chart.lengths.size());
}

}  // namespace rooflab::plot
