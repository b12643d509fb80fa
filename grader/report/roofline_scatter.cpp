#include "grader/report/roofline_scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "grader/report/text.h"
#include "grader/spec/median.h"
#include "labs/toolkit/plot/frame.h"
#include "labs/toolkit/plot/roofline_axes.h"
#include "labs/toolkit/plot/series.h"
#include "labs/toolkit/plot/svg.h"
#include "labs/toolkit/plot/words.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestLabel = 48;
constexpr std::size_t kCrowd = 10;  // marks of a task, above which they let others shine through
constexpr std::size_t kFewestForMedian = 3;
constexpr double kSpread = 9;  // pixels to both sides of where a task's marks belong

bool can_be_drawn(const ScatterMark& mark) {
  return mark.intensity > 0 && mark.flops_per_second > 0 && std::isfinite(mark.intensity) &&
         std::isfinite(mark.flops_per_second);
}

std::string words_for_people(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// The roofs that the tasks run against, and fp32 always.
std::vector<plot::Roof> roofs_of(const std::vector<ScatterSeries>& series,
                                 const gpu_spec::GpuSpec& gpu) {
  std::vector<plot::Roof> roofs;
  for (const auto& [type, rate] : gpu.peak_flops) {
    const auto runs_against = [&wanted = type](const ScatterSeries& one) {
      return one.peak == wanted;
    };
    const bool used = std::any_of(series.begin(), series.end(), runs_against);
    if (used || type == "fp32") roofs.push_back({words_for_people(type), rate});
  }
  return roofs;
}

std::vector<plot::MemoryLevel> memory_of(const gpu_spec::GpuSpec& gpu) {
  std::vector<plot::MemoryLevel> memory{{"DRAM", gpu.dram_bytes_per_second}};
  if (gpu.l2_bytes_per_second > 0) memory.push_back({"L2", gpu.l2_bytes_per_second});
  return memory;
}

/// The binary digits of `index` mirrored at the point: 0, 1/2, 1/4, 3/4, 1/8 … (van der Corput).
/// Neighbours in a list come to lie far apart, and the same ones in the same places on every run.
double spread_out(std::size_t index) {
  double place = 0;
  for (double step = 0.5; index > 0; index /= 2, step /= 2) {
    if (index % 2 == 1) place += step;
  }
  return place;
}

class Scatter {
 public:
  Scatter(const std::string& title, const std::vector<ScatterSeries>& series,
          const gpu_spec::GpuSpec& gpu)
      : title_(title),
        series_(series),
        roofs_(roofs_of(series, gpu)),
        memory_(memory_of(gpu)),
        legend_(legend()),
        plot_{84, plot::header_height(legend_), 688, 330},
        axes_(plot::roofline_axes(roofs_, memory_, plot_)),
        svg_(plot_.y + plot_.height + 50, title, description()) {}

  std::string draw() && {
    plot::draw_header(svg_, title_, legend_);
    plot::draw_x_axis(svg_, axes_.x, plot_, plot::brief, "arithmetic intensity, FLOP per byte");
    plot::draw_y_axis(svg_, axes_.y, plot_, plot::brief_with_prefix, "performance, FLOP/s");
    svg_.box("frame", plot_);
    draw_roofs();
    for (std::size_t i = 0; i < series_.size(); ++i) draw_marks(i);
    for (const ScatterSeries& one : series_) draw_median(one);
    label_roofs();
    return std::move(svg_).finish();
  }

 private:
  std::vector<plot::LegendEntry> legend() const {
    std::vector<plot::LegendEntry> entries;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      entries.push_back(plot::series_entry(i, shorten(one_line(series_[i].label), kLongestLabel)));
    }
    if (std::any_of(series_.begin(), series_.end(), has_median)) {
      entries.push_back({"target", plot::Marker::bar, "median of a task"});
    }
    return entries;
  }

  std::string description() const {
    std::string words = "Performance over arithmetic intensity, both logarithmic.";
    for (const ScatterSeries& one : series_) {
      words += fmt::format(" {}: {} {}, median {}.", shorten(one_line(one.label), kLongestLabel),
                           one.marks.size(), one.marks.size() == 1 ? "mark" : "marks",
                           plot::with_prefix(median(one), "FLOP/s"));
    }
    return words;
  }

  static double median(const ScatterSeries& one) {
    std::vector<double> rates;
    for (const ScatterMark& mark : one.marks) rates.push_back(mark.flops_per_second);
    return median_of(std::move(rates));
  }

  /// Of fewer it would hide them.
  static bool has_median(const ScatterSeries& one) { return one.marks.size() >= kFewestForMedian; }

  void draw_roofs() {
    for (const plot::MemoryLevel& level : memory_) {
      const double highest = plot::highest_of(roofs_).flops_per_second;
      svg_.line("roof", axes_.at(axes_.x.low(), axes_.x.low() * level.bytes_per_second),
                axes_.at(highest / level.bytes_per_second, highest));
    }
    for (const plot::Roof& roof : roofs_) {
      svg_.line("roof", axes_.at(plot::first_ridge(roof, memory_), roof.flops_per_second),
                axes_.at(axes_.x.high(), roof.flops_per_second));
    }
  }

  void label_roofs() {
    for (const plot::Roof& roof : roofs_) {
      const plot::Place end = axes_.at(axes_.x.high(), roof.flops_per_second);
      svg_.text("on-plot", {end.x - 6, end.y - 6},
                roof.label + ", " + plot::with_prefix(roof.flops_per_second, "FLOP/s"),
                plot::Anchor::end);
    }
    for (const plot::MemoryLevel& level : memory_) {
      const double degrees =
          std::atan2(-axes_.y.decade(), axes_.x.decade()) * 180 / std::numbers::pi;
      const double intensity = axes_.x.low() * 3;
      const plot::Place place = axes_.at(intensity, intensity * level.bytes_per_second);
      svg_.text("on-plot", {place.x - 4, place.y - 8},
                level.label + ", " + plot::with_prefix(level.bytes_per_second, "B/s"),
                plot::Anchor::start, degrees);
    }
  }

  void draw_marks(std::size_t index) {
    const plot::LegendEntry look = plot::series_entry(index, "");
    const ScatterSeries& one = series_[index];
    for (std::size_t i = 0; i < one.marks.size(); ++i) {
      const ScatterMark& mark = one.marks[i];
      plot::Place place = axes_.at(mark.intensity, mark.flops_per_second);
      if (one.marks.size() > 1) place.x += kSpread * (2 * spread_out(i) - 1);
      place.x = std::clamp(place.x, plot_.x, plot_.x + plot_.width);
      svg_.marker(look.css_class + (one.marks.size() > kCrowd ? " crowd" : ""), look.marker, place,
                  fmt::format("{}, {}: {}", shorten(one_line(mark.label), kLongestLabel),
                              shorten(one_line(one.label), kLongestLabel),
                              plot::with_prefix(mark.flops_per_second, "FLOP/s")));
    }
  }

  void draw_median(const ScatterSeries& one) {
    if (!has_median(one)) return;
    const double rate = median(one);
    svg_.marker("target", plot::Marker::bar, axes_.at(one.marks.front().intensity, rate),
                fmt::format("{}, median: {}", shorten(one_line(one.label), kLongestLabel),
                            plot::with_prefix(rate, "FLOP/s")));
  }

  std::string title_;
  const std::vector<ScatterSeries>& series_;
  std::vector<plot::Roof> roofs_;
  std::vector<plot::MemoryLevel> memory_;
  std::vector<plot::LegendEntry> legend_;
  plot::Box plot_;
  plot::RooflineAxes axes_;
  plot::Svg svg_;
};

}  // namespace

std::string roofline_scatter(const std::string& title, const std::vector<ScatterSeries>& series,
                             const gpu_spec::GpuSpec& gpu) {
  std::vector<ScatterSeries> shown;
  for (const ScatterSeries& one : series) {
    ScatterSeries drawn{one.label, one.peak, {}};
    std::copy_if(one.marks.begin(), one.marks.end(), std::back_inserter(drawn.marks), can_be_drawn);
    if (!drawn.marks.empty()) shown.push_back(std::move(drawn));
  }
  if (shown.empty()) return {};
  return Scatter(one_line(title), shown, gpu).draw();
}

}  // namespace rooflab
