#include "labs/toolkit/plot/label_placer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace rooflab::plot {
namespace {

constexpr double kGap = 4;        // between a marker and its label
constexpr double kClearance = 1;  // around a label
// Right and left read best; above and below next; then the corners.
constexpr std::array<Place, 8> kBeside{
    {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {1, 1}, {-1, -1}, {-1, 1}}};

/// The box that touches a circle of this radius around the marker, in this direction.
Box beside(Place marker, Place direction, double radius, double width, double height) {
  return {marker.x + direction.x * (radius + width / 2) - width / 2,
          marker.y + direction.y * (radius + height / 2) - height / 2, width, height};
}

double distance(Place place, const Box& box) {
  const Place nearest = box.nearest(place);
  return std::hypot(nearest.x - place.x, nearest.y - place.y);
}

}  // namespace

void LabelPlacer::keep_marker_free(Place marker, double radius) {
  keep_free(Box{marker.x, marker.y, 0, 0}.grown(radius));
  markers_.push_back(marker);
}

bool LabelPlacer::is_free(const Outline& outline) const {
  return outline.inside(bounds_) &&
         std::none_of(taken_.begin(), taken_.end(),
                      [&](const Outline& other) { return other.overlaps(outline); });
}

void LabelPlacer::keep_label_free(const Outline& label) {
  keep_free(label);
  labels_.push_back(label);
}

bool LabelPlacer::belongs_to(Place marker, const Box& box) const {
  constexpr double kTie = 1;
  const double own = distance(marker, box);
  return std::none_of(markers_.begin(), markers_.end(),
                      [&](Place other) { return distance(other, box) < own - kTie; });
}

/// Whether a leader line from the marker to the label passes by all labels and other markers.
bool LabelPlacer::leads_to(Place marker, double radius, const Box& box, bool over_markers) const {
  const Outline leader = Outline::line(marker, box.nearest(marker));
  const auto crosses = [&](const Outline& other) { return other.overlaps(leader); };
  const auto crosses_marker = [&](Place other) {
    const Box around = Box{other.x, other.y, 0, 0}.grown(radius);
    return distance(marker, around) > 0 && crosses(around);
  };
  return std::none_of(labels_.begin(), labels_.end(), crosses) &&
         (over_markers || std::none_of(markers_.begin(), markers_.end(), crosses_marker));
}

std::optional<LabelPlacer::Placed> LabelPlacer::place(Place marker, double radius, double width,
                                                      double height, double reach) {
  for (const Place& direction : kBeside) {
    const Box box = beside(marker, direction, radius + kGap, width, height);
    if (!belongs_to(marker, box) || !is_free(box.grown(kClearance))) continue;
    keep_label_free(box.grown(kClearance));
    return Placed{box, false};
  }
  // In a crowd a leader line may have to start across the neighbours.
  for (const bool over_markers : {false, true}) {
    if (const auto placed = place_away(marker, radius, width, height, reach, over_markers))
      return placed;
  }
  return std::nullopt;
}

std::optional<LabelPlacer::Placed> LabelPlacer::place_away(Place marker, double radius,
                                                           double width, double height,
                                                           double reach, bool over_markers) {
  constexpr double kStep = 5;
  constexpr int kDirections = 40;
  for (double away = radius + kGap + kStep; away <= reach; away += kStep) {
    for (int k = 0; k < kDirections; ++k) {
      const double angle = 2 * std::numbers::pi * k / kDirections;
      const Box box = beside(marker, {std::cos(angle), std::sin(angle)}, away, width, height);
      if (!is_free(box.grown(kClearance)) || !leads_to(marker, radius, box, over_markers)) continue;
      keep_label_free(box.grown(kClearance));
      keep_free(Outline::line(marker, box.nearest(marker)));
      return Placed{box, true};
    }
  }
  return std::nullopt;
}

}  // namespace rooflab::plot
