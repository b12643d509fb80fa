#include "grader/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "grader/report/html_page.h"
#include "grader/report/text.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

struct NamedTiming {
  std::string label;  ///< the task, and the case where a task has several
  const Timing& timing;
};

std::vector<NamedTiming> timings_of(const GradeResult& result) {
  constexpr std::size_t kLongestLabel = 48;
  std::vector<NamedTiming> all;
  for (const TaskResult& task : result.tasks) {
    for (const Timing& timing : task.timings) {
      if (!(timing.time_us > 0)) continue;
      const std::string label = task.timings.size() == 1 ? task.id : task.id + ", " + timing.name;
      all.push_back({shorten(one_line(label), kLongestLabel), timing});
    }
  }
  return all;
}

/// The roofs that the tasks run against, and fp32 always: more would only hide the points.
std::vector<plot::Roof> roofs_of(const std::vector<NamedTiming>& timings,
                                 const gpu_spec::GpuSpec& gpu) {
  std::vector<plot::Roof> roofs;
  for (const auto& [type, peak] : gpu.peak_flops) {
    const auto runs_against = [&wanted = type](const NamedTiming& one) {
      return one.timing.peak == wanted;
    };
    const bool used = std::any_of(timings.begin(), timings.end(), runs_against);
    std::string words = type;
    std::replace(words.begin(), words.end(), '_', ' ');
    if (used || type == "fp32") roofs.push_back({words, peak});
  }
  return roofs;
}

void add_points(const NamedTiming& named, plot::PointKind kind, std::vector<plot::Point>& points) {
  const Timing& timing = named.timing;
  if (!(timing.bytes > 0)) return;
  const double intensity = timing.flops / timing.bytes;
  points.push_back({named.label, intensity, timing.flops / (timing.time_us * 1e-6), kind});
  if (timing.target_efficiency > 0 && timing.flops > 0) {
    const double roof = timing.flops / (timing.roofline_us * 1e-6);
    points.push_back(
        {named.label, intensity, roof * timing.target_efficiency, plot::PointKind::target});
  }
}

}  // namespace

std::string roofline_section(const GradeResult& result, const gpu_spec::GpuSpec& gpu,
                             int heading_level) {
  const std::vector<NamedTiming> timings = timings_of(result);
  plot::RooflineChart chart;
  chart.title = "Roofline of the " + gpu.name;
  chart.roofs = roofs_of(timings, gpu);
  chart.memory = {{"DRAM", gpu.dram_bytes_per_second}};
  if (gpu.l2_bytes_per_second > 0) chart.memory.push_back({"L2", gpu.l2_bytes_per_second});
  const plot::PointKind kind =
      result.time_kind == "measured" ? plot::PointKind::measured : plot::PointKind::modelled;
  for (const NamedTiming& named : timings) add_points(named, kind, chart.points);
  if (chart.points.empty()) return {};
  const std::string note = fmt::format(
      "Points are {} and stand at the intensity of the compulsory traffic; a dashed line joins "
      "each "
      "with its target, the performance that full marks ask for.",
      result.time_kind);
  return "<section>" + html_heading(heading_level, "Roofline") + "<div class=\"wide\">" +
         plot::to_svg(chart) + "</div><p class=\"note\">" + note + "</p></section>\n";
}

std::string latency_section(const GradeResult& result, int heading_level) {
  const std::vector<NamedTiming> timings = timings_of(result);
  if (timings.empty()) return {};
  double longest = 0, shortest = INFINITY;
  for (const NamedTiming& named : timings) {
    longest = std::max(longest, named.timing.time_us);
    shortest = std::min(shortest, named.timing.time_us);
    if (named.timing.roofline_us > 0) shortest = std::min(shortest, named.timing.roofline_us);
  }
  const double low = std::log10(shortest) - 0.3, span = std::log10(longest) - low;
  const auto width = [&](double us) {
    return us > 0 ? std::clamp(100 * (std::log10(us) - low) / span, 1.0, 100.0) : 0.0;
  };
  std::string rows;
  for (const auto& [label, timing] : timings) {
    rows += fmt::format(
        R"(<div class="latency"><span>{}</span><span class="track"><i class="time" style="width:{:.1f}%"></i>)"
        R"(<i class="roofline" style="width:{:.1f}%"></i></span><span>{} <small>{}roofline {}</small></span></div>)"
        "\n",
        escape_html(label), width(timing.time_us), width(timing.roofline_us),
        escape_html(format_time(timing)), timing.sampled ? "sampled, " : "",
        format_time_us(timing.roofline_us));
  }
  return "<section>" + html_heading(heading_level, "Latency") + rows +
         fmt::format(
             "<p class=\"note\">Each bar is a {} time, the thin one in it the roofline time; "
             "the scale is logarithmic.</p></section>\n",
             result.time_kind);
}

}  // namespace rooflab
