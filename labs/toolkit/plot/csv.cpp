#include <initializer_list>

#include "labs/toolkit/plot/check_chart.h"
#include "labs/toolkit/plot/kind.h"
#include "labs/toolkit/plot/plot.h"
#include "labs/toolkit/plot/words.h"

namespace rooflab::plot {
namespace {

/// A field as RFC 4180 wants it: quoted where it holds a comma, a quote or a line break.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string record(std::initializer_list<std::string> fields) {
  std::string line;
  for (const std::string& text : fields) {
    line += field(text);
    line += ',';
  }
  line.pop_back();
  return line + "\r\n";
}

std::string value_field(double value) {
  return value == kOutOfMemory ? "out of memory" : shortest(value);
}

}  // namespace

std::string to_csv(const RooflineChart& chart) {
  check_chart(chart);
  std::string csv =
      record({"element", "label", "kind", "intensity", "flops_per_second", "bytes_per_second"});
  for (const Roof& roof : chart.roofs)
    csv += record({"roof", roof.label, "", "", shortest(roof.flops_per_second), ""});
  for (const MemoryLevel& level : chart.memory)
    csv += record({"memory", level.label, "", "", "", shortest(level.bytes_per_second)});
  for (const Point& point : chart.points) {
    csv += record({"point", point.label, name_of(point.kind), shortest(point.intensity),
                   shortest(point.flops_per_second), ""});
  }
  return csv;
}

std::string to_csv(const LatencyChart& chart) {
  check_chart(chart);
  std::string csv = record({chart.x_label, "label", "latency_ms"});
  for (const Series& series : chart.latency_ms) {
    for (std::size_t i = 0; i < chart.x.size(); ++i)
      csv += record({chart.x[i], series.label, value_field(series.values[i])});
  }
  return csv;
}

std::string to_csv(const AttentionChart& chart) {
  check_chart(chart);
  std::string csv = record({"quantity", "length", "label", "value"});
  const auto rows = [&](const char* quantity, const std::vector<Series>& all) {
    for (const Series& series : all) {
      for (std::size_t i = 0; i < chart.lengths.size(); ++i)
        csv += record({quantity, std::to_string(chart.lengths[i]), series.label,
                       value_field(series.values[i])});
    }
  };
  rows("latency_ms", chart.latency_ms);
  rows("memory_bytes", chart.memory_bytes);
  return csv;
}

}  // namespace rooflab::plot
