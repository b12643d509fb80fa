#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "labs/toolkit/plot/check_chart.h"
#include "labs/toolkit/plot/frame.h"
#include "labs/toolkit/plot/kind.h"
#include "labs/toolkit/plot/label_placer.h"
#include "labs/toolkit/plot/plot.h"
#include "labs/toolkit/plot/point_groups.h"
#include "labs/toolkit/plot/roofline_axes.h"
#include "labs/toolkit/plot/words.h"

namespace rooflab::plot {
namespace {

constexpr double kHeight = 512;
constexpr Box kPlot{84, 66, 688, 396};
constexpr double kBorder = 18;  // the room of an arrow between a point outside and the border
constexpr double kLongestLabel = 260, kLabelReach = 300;

Marker marker_of(PointKind kind) {
  switch (kind) {
    case PointKind::predicted:
      return Marker::diamond;
    case PointKind::modelled:
      return Marker::circle;
    case PointKind::measured:
      return Marker::square;
    case PointKind::target:
      return Marker::bar;
  }
  return Marker::circle;
}

/// "12.5 FLOP/B, 4.21 TFLOP/s"
std::string numbers_of(const Point& point) {
  return three_digits(point.intensity) + " FLOP/B, " +
         with_prefix(point.flops_per_second, "FLOP/s");
}

std::string words_of(const Roof& roof) {
  return shortened(roof.label, kLongestLabel) + ", " + with_prefix(roof.flops_per_second, "FLOP/s");
}
std::string words_of(const MemoryLevel& level) {
  return shortened(level.label, kLongestLabel) + ", " + with_prefix(level.bytes_per_second, "B/s");
}

std::string description_of(const RooflineChart& chart) {
  std::string words = "Performance over arithmetic intensity, both logarithmic. Roofs:";
  for (const Roof& roof : chart.roofs) words += joined({" ", words_of(roof), ";"});
  words += " memory:";
  for (const MemoryLevel& level : chart.memory) words += joined({" ", words_of(level), ";"});
  words += chart.points.empty() ? " no points." : " points:";
  for (const Point& point : chart.points)
    words += joined({" ", point.label, ", ", name_of(point.kind), ", ", numbers_of(point), ";"});
  words.back() = '.';
  return words;
}

std::vector<LegendEntry> legend_of(const RooflineChart& chart) {
  std::vector<LegendEntry> legend;
  for (const PointKind kind : kAllKinds) {
    const auto is_kind = [&](const Point& point) { return point.kind == kind; };
    if (std::any_of(chart.points.begin(), chart.points.end(), is_kind))
      legend.push_back({name_of(kind), marker_of(kind), name_of(kind)});
  }
  legend.push_back({"ridge", Marker::circle, "ridge point"});
  return legend;
}

class RooflineDrawing {
 public:
  explicit RooflineDrawing(const RooflineChart& chart)
      : chart_(chart),
        axes_(roofline_axes(chart.roofs, chart.memory, kPlot)),
        groups_(groups_of(chart)),
        placer_(kPlot.grown(-2)),
        svg_(kHeight, chart.title, description_of(chart)) {}

  std::string draw() && {
    draw_header(svg_, chart_.title, legend_of(chart_));
    draw_x_axis(svg_, axes_.x, kPlot, brief, "arithmetic intensity, FLOP per byte");
    draw_y_axis(svg_, axes_.y, kPlot, brief_with_prefix, "performance, FLOP/s");
    svg_.box("frame", kPlot);
    // First everything that labels must keep off, then the labels, the most important first.
    draw_lines();
    keep_markers_free();
    for (const Roof& roof : chart_.roofs) label_roof(roof);
    for (const MemoryLevel& level : chart_.memory) label_memory(level);
    label_groups();
    label_ridges();
    for (const auto& [from, to] : leaders_) svg_.line("leader", from, to);
    draw_markers();
    draw_labels();
    draw_note();
    return std::move(svg_).finish();
  }

 private:
  struct Label {
    std::string css_class;
    Box box;
    std::string words;
    double degrees = 0;
  };

  /// Where labels stand so far.
  struct Labelling {
    LabelPlacer placer;
    std::vector<Label> labels;
    std::vector<std::pair<Place, Place>> leaders;
    int left_out;
  };
  Labelling labelling() const { return {placer_, labels_, leaders_, labels_left_out_}; }
  void restore(const Labelling& from) {
    placer_ = from.placer;
    labels_ = from.labels;
    leaders_ = from.leaders;
    labels_left_out_ = from.left_out;
  }

  Place at(double intensity, double rate) const { return axes_.at(intensity, rate); }
  double ridge(const Roof& roof, const MemoryLevel& level) const {
    return roof.flops_per_second / level.bytes_per_second;
  }
  /// Where the first memory level that reaches a roof meets it.
  Place start_of(const Roof& roof) const {
    return at(first_ridge(roof, chart_.memory), roof.flops_per_second);
  }
  Place end_of(const Roof& roof) const { return at(axes_.x.high(), roof.flops_per_second); }
  Place start_of(const MemoryLevel& level) const {
    return at(axes_.x.low(), axes_.x.low() * level.bytes_per_second);
  }
  Place end_of(const MemoryLevel& level) const {
    const Roof& highest = highest_of(chart_.roofs);
    return at(ridge(highest, level), highest.flops_per_second);
  }

  bool outside(const Point& point) const {
    return !axes_.x.holds(point.intensity) || !axes_.y.holds(point.flops_per_second);
  }
  /// Which way a point lies outside: -1, 0 or 1 along each axis of the canvas.
  Place way_out(const Point& point) const {
    const auto side = [](const LogAxis& axis, double value) {
      return axis.holds(value) ? 0.0 : value < axis.low() ? -1.0 : 1.0;
    };
    return {side(axes_.x, point.intensity), -side(axes_.y, point.flops_per_second)};
  }
  /// Of a point outside, its place at the border, with room for the arrow.
  Place place_of(const Point& point) const {
    const Place place = at(point.intensity, point.flops_per_second);
    if (!outside(point)) return place;
    return kPlot.grown(-kBorder).nearest(place);
  }

  void draw_line(const char* css_class, Place from, Place to) {
    svg_.line(css_class, from, to);
    placer_.keep_free(Outline::line(from, to));
  }

  void draw_lines() {
    for (const MemoryLevel& level : chart_.memory)
      draw_line("roof", start_of(level), end_of(level));
    for (const Roof& roof : chart_.roofs) draw_line("roof", start_of(roof), end_of(roof));
    for (const Group& group : groups_) {
      for (std::size_t i = 1; i < group.points.size(); ++i)
        draw_line("pair", place_of(*group.points[i - 1]), place_of(*group.points[i]));
    }
  }

  static Box around(Place place) { return Box{place.x, place.y, 0, 0}.grown(kMarkerRadius); }

  void keep_markers_free() {
    for (const Point& point : chart_.points) {
      const Place place = place_of(point), way = way_out(point);
      placer_.keep_marker_free(place, kMarkerRadius);
      if (outside(point))
        placer_.keep_free(around({place.x + kBorder / 2 * way.x, place.y + kBorder / 2 * way.y}));
    }
    for_each_ridge(
        [&](const Roof&, const MemoryLevel&, Place place) { placer_.keep_free(around(place)); });
  }

  template <typename Visit>
  void for_each_ridge(Visit visit) const {
    for (const Roof& roof : chart_.roofs) {
      for (const MemoryLevel& level : chart_.memory)
        visit(roof, level, at(ridge(roof, level), roof.flops_per_second));
    }
  }

  bool take(const char* css_class, const Box& box, const std::string& words, double degrees) {
    const Outline outline = Outline::turned(box, degrees);
    if (!placer_.is_free(outline)) return false;
    placer_.keep_label_free(outline);
    labels_.push_back({css_class, box, words, degrees});
    return true;
  }

  /// A label beside a marker, or further away at the end of a leader line.
  void label_place(Place place, const std::string& words) {
    const auto placed =
        placer_.place(place, kMarkerRadius, text_width(words), kTextHeight, kLabelReach);
    if (!placed) {
      ++labels_left_out_;
      return;
    }
    if (placed->away) leaders_.emplace_back(place, placed->box.nearest(place));
    labels_.push_back({"on-plot", placed->box, words});
  }

  /// Above the roof at its right end; else further left, or below. It may start left of its roof.
  void label_roof(const Roof& roof) {
    constexpr double kStep = 16, kGap = 4;
    const std::string words = words_of(roof);
    const Place start = start_of(roof), end = end_of(roof);
    const double width = text_width(words);
    for (double right = end.x - 6; right > start.x; right -= kStep) {
      for (const double top : {start.y - kGap - kTextHeight, start.y + kGap}) {
        if (take("on-plot", {right - width, top, width, kTextHeight}, words, 0)) return;
      }
    }
    label_place({(start.x + end.x) / 2, start.y}, words);
  }

  /// Along the line, above or below it.
  void label_memory(const MemoryLevel& level) {
    const std::string words = words_of(level);
    const Place start = start_of(level), end = end_of(level);
    const double length = std::hypot(end.x - start.x, end.y - start.y);
    const Place along{(end.x - start.x) / length, (end.y - start.y) / length};
    const double degrees = std::atan2(-along.y, along.x) * 180 / std::numbers::pi;
    const double width = text_width(words), offset = kTextHeight / 2 + 4;
    // From the middle on to both sides.
    constexpr double kStep = 12;
    for (int step = 0; step * kStep < length; ++step) {
      const int steps = (step + 1) / 2;
      const double shift = (step % 2 == 0 ? steps : -steps) * kStep;
      for (const double side : {1.0, -1.0}) {
        const Place center{start.x + along.x * (length / 2 + shift) + along.y * offset * side,
                           start.y + along.y * (length / 2 + shift) - along.x * offset * side};
        const Box box{center.x - width / 2, center.y - kTextHeight / 2, width, kTextHeight};
        if (take("on-plot", box, words, degrees)) return;
      }
    }
    label_place({(start.x + end.x) / 2, (start.y + end.y) / 2}, words);
  }

  /// Whose turn comes early has more room: of a few orders, the first that leaves out the fewest.
  void label_groups() {
    // An order does not help where there are more labels than room.
    constexpr std::size_t kOrders = 8, kMostInSeveralOrders = 40;
    const Labelling before = labelling();
    std::optional<Labelling> best;
    for (std::size_t order = 0; order < kOrders; ++order) {
      restore(before);
      for (std::size_t i = 0; i < groups_.size(); ++i)
        label_group(groups_[(i + order * groups_.size() / kOrders) % groups_.size()]);
      if (!best || labels_left_out_ < best->left_out) best = labelling();
      if (best->left_out == before.left_out || groups_.size() > kMostInSeveralOrders) break;
    }
    restore(*best);
  }

  void label_group(const Group& group) {
    const Point& named = group.named();
    std::string words = shortened(named.label, kLongestLabel);
    if (outside(named)) words += " (outside: " + numbers_of(named) + ")";
    label_place(place_of(named), words);
  }

  /// Where there is still room, what the ridge points are.
  void label_ridges() {
    for_each_ridge([&](const Roof& roof, const MemoryLevel& level, Place place) {
      const std::string words = three_digits(ridge(roof, level));
      const auto placed = placer_.place(place, kMarkerRadius, text_width(words), kTextHeight, 0);
      if (placed) labels_.push_back({"on-plot soft", placed->box, words});
    });
  }

  void draw_markers() {
    for_each_ridge([&](const Roof& roof, const MemoryLevel& level, Place place) {
      svg_.marker("ridge", Marker::circle, place,
                  "ridge point of " + roof.label + " and " + level.label + ": " +
                      three_digits(ridge(roof, level)) + " FLOP/B");
    });
    // Targets and predictions lie below what was reached.
    for (const PointKind kind :
         {PointKind::target, PointKind::modelled, PointKind::measured, PointKind::predicted}) {
      for (const Point& point : chart_.points) {
        if (point.kind == kind) draw_marker(point);
      }
    }
  }

  void draw_marker(const Point& point) {
    const Place place = place_of(point), way = way_out(point);
    if (outside(point)) svg_.arrow({place.x + kBorder * way.x, place.y + kBorder * way.y}, way);
    svg_.marker(name_of(point.kind), marker_of(point.kind), place,
                point.label + ", " + name_of(point.kind) + ": " + numbers_of(point));
  }

  void draw_labels() {
    for (const Label& label : labels_) {
      const Place center = label.box.center();
      const double radians = label.degrees * std::numbers::pi / 180;
      const double down = kTextHeight / 2 - kTextDescent;  // from the center to the baseline
      if (label.degrees == 0) {
        svg_.label(label.css_class, label.box, label.words);
      } else {
        svg_.text(label.css_class,
                  {center.x + down * std::sin(radians), center.y + down * std::cos(radians)},
                  label.words, Anchor::middle, label.degrees);
      }
    }
  }

  /// Says what the picture cannot show.
  void draw_note() {
    const auto outside_count = std::count_if(chart_.points.begin(), chart_.points.end(),
                                             [&](const Point& point) { return outside(point); });
    std::string note;
    if (outside_count > 0)
      note = "Outside of the axes, with an arrow at the border: " + std::to_string(outside_count) +
             ". ";
    if (labels_left_out_ > 0)
      note += "Labels without room: " + std::to_string(labels_left_out_) + ".";
    if (note.empty()) return;
    svg_.text("soft", {kPlot.x, kHeight + 8}, note);
    svg_.add_height(20);
  }

  const RooflineChart& chart_;
  RooflineAxes axes_;
  std::vector<Group> groups_;
  LabelPlacer placer_;
  Svg svg_;
  std::vector<Label> labels_;
  std::vector<std::pair<Place, Place>> leaders_;
  int labels_left_out_ = 0;
};

}  // namespace

std::string to_svg(const RooflineChart& chart) {
  check_chart(chart);
  return RooflineDrawing(chart).draw();
}

}  // namespace rooflab::plot
